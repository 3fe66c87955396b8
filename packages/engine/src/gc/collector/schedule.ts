import { createHash } from 'node:crypto';
import { gcRunStates, repositoryActive, timestampToMillis } from '@svc/encoding';
import type { EngineContext } from '../../context/engine-context.ts';
import { EngineError } from '../../errors.ts';
import { gcClasses } from '../../face/gc-runs.ts';
import { wholeRound, type JobRound } from '../../face/jobs.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { checkCollectable } from '../gc-state.ts';
import { enqueueRun, findQueued } from './queue.ts';
import { readSettings } from './repository-settings.ts';
import { isOver, listRuns, optionsOf } from './run-store.ts';

const metadataIntervalMs = 7 * 86_400_000;

/** Starts runs of the repositories whose turn it is. */
export async function scheduleRuns(context: EngineContext, round: JobRound = wholeRound): Promise<void> {
  for await (const data of context.repositories.list('', '')) {
    if (!(await round.mayGoOn())) return;
    if (data.readOnly || data.state !== repositoryActive) continue;
    const scope = context.repositories.scopeOf(data);
    try {
      if (await isDue(context, scope)) await start(context, scope);
    } catch (error) {
      // A bare repository has nothing to collect, and one being restored must wait.
      if (!(error instanceof EngineError)) throw error;
      context.logger.debug({ error, repository: data.id }, 'no garbage collection was scheduled');
    }
  }
}

async function start(context: EngineContext, scope: RepositoryScope): Promise<void> {
  await checkCollectable(context, scope);
  const isTimeForMetadata = !(await hasCollectedMetadata(context, scope));
  const classes = gcClasses.filter((name) => name !== 'metadata' || isTimeForMetadata);
  const options = { dryRun: false, hard: false, classes, takeOver: false };
  await enqueueRun(context, scope, options, 'scheduler');
}

/** There is little of it, so runs that nobody asked for look for it once a week. */
async function hasCollectedMetadata(context: EngineContext, scope: RepositoryScope): Promise<boolean> {
  for await (const run of listRuns(context, scope)) {
    const { classes, dryRun } = optionsOf(run);
    const age = context.clock() - timestampToMillis(run.started);
    if (age > metadataIntervalMs) continue;
    const isCompleted = run.state === gcRunStates.indexOf('completed');
    if (isCompleted && !dryRun && classes.includes('metadata')) return true;
  }
  return false;
}

async function isDue(context: EngineContext, scope: RepositoryScope): Promise<boolean> {
  const { enabled, intervalHours } = await readSettings(context, scope);
  const { gc } = context.settings;
  if (enabled === 'off' || (enabled === 'inherit' && !gc.enabled)) return false;
  if ((await findQueued(context, scope)) !== undefined) return false;
  const intervalMs = intervalHours === undefined ? gc.intervalMs : intervalHours * 3_600_000;
  for await (const run of listRuns(context, scope)) {
    if (run.user !== 'scheduler') continue;
    const last = timestampToMillis(isOver(run) ? run.ended : run.updated);
    return context.clock() - last >= intervalMs * spread(scope, run.id);
  }
  return true;
}

/** 0.9 to 1.1, so that repositories made together do not stay together. */
function spread(scope: RepositoryScope, runId: string): number {
  const [byte = 0] = createHash('sha256').update(scope.partition).update(runId).digest();
  return 0.9 + (0.2 * byte) / 255;
}
