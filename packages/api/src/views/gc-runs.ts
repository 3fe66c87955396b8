import { reportToJson, type GcRun } from '@svc/engine';
import { gcRulesView } from './gc-rules.ts';

export function gcRunView({ options, report, ...run }: GcRun) {
  return {
    id: run.id,
    state: run.state,
    ...(run.phase === '' ? {} : { phase: run.phase }),
    options: {
      dry_run: options.dryRun,
      hard: options.hard,
      classes: [...options.classes],
      max_percent: options.maxPercent,
      take_over: options.takeOver,
      rules: options.rules === undefined ? undefined : gcRulesView(options.rules),
    },
    user: run.user,
    creation_date: seconds(run.created) ?? 0,
    start_date: seconds(run.started),
    end_date: seconds(run.ended),
    update_time: new Date(run.updated).toISOString(),
    done: run.done,
    total: run.total,
    report: report === undefined ? undefined : reportToJson(report),
    error: run.error === undefined ? undefined : { message: run.error },
  };
}

function seconds(milliseconds: number | undefined): number | undefined {
  return milliseconds === undefined ? undefined : Math.floor(milliseconds / 1000);
}
