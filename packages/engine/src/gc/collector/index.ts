import {
  gcKeepMessage,
  gcQuarantineMessage,
  gcRunStates,
  timestampFromMillis,
  timestampToMillis,
  zeroTimestamp,
} from '@svc/encoding';
import { adapterOf, type EngineContext } from '../../context/engine-context.ts';
import { collectPage } from '../../context/page.ts';
import { invalid } from '../../context/refusals.ts';
import { EngineError } from '../../errors.ts';
import { gcClasses, type GcObject, type GcRunOptions, type GcRuns } from '../../face/gc-runs.ts';
import { checkNotReadOnly } from '../../protection/writable.ts';
import { resolveCommitId } from '../../refs/resolve-ref.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { keepKey, quarantineKey } from '../gc-keys.ts';
import { checkRules } from '../gc-rules.ts';
import { checkCollectable } from '../gc-state.ts';
import { readStoredGarbage } from './garbage-file.ts';
import { GcPlaces } from './places.ts';
import { dequeue, enqueueRun, findQueued } from './queue.ts';
import { quarantineOf, readSettings, writeSettings } from './repository-settings.ts';
import { changeRun, isOver, listRuns, optionsOf, readRun, toRun } from './run-store.ts';
import { collectorLost } from './runner.ts';
import { readRootReports } from './summary.ts';

const dayMs = 86_400_000;
const mostDays = 3650;
/** A run that shows no life for so long has none. */
const lostAfterMs = 90_000;

export function gcRuns(context: EngineContext): GcRuns {
  const open = (repository: string): Promise<RepositoryScope> => context.repositories.open(repository);
  return {
    start: async ({ repository, user, ...given }) => {
      const scope = await open(repository);
      checkNotReadOnly(scope, false);
      const options: GcRunOptions = {
        dryRun: given.dryRun ?? false,
        hard: given.hard ?? false,
        classes: given.classes ?? gcClasses,
        maxPercent: given.maxPercent,
        takeOver: given.takeOver ?? false,
        rules: given.rules,
      };
      if (options.hard && !options.classes.includes('objects')) {
        throw invalid('hard applies to objects only', 'repository');
      }
      if (options.rules !== undefined) {
        if (!options.dryRun)
          throw invalid('rules are only tried in a dry run: set them to collect by them', 'rules');
        checkRules(options.rules);
      }
      await checkCollectable(context, scope);
      return enqueueRun(context, scope, options, user);
    },
    list: async ({ repository, after, amount }) => {
      const scope = await open(repository);
      const page = await collectPage(listRuns(context, scope, after), amount, (run) => run.id);
      return { ...page, items: page.items.map((run) => shown(context, run)) };
    },
    get: async ({ repository, run }) => {
      const scope = await open(repository);
      const { data } = await readRun(context, scope, run);
      const found = shown(context, data);
      if (found.report === undefined) return found;
      return { ...found, report: { ...found.report, roots: await readRootReports(context, scope, run) } };
    },
    listObjects: async ({ repository, run, kind, after, amount }) => {
      const scope = await open(repository);
      const { data } = await readRun(context, scope, run);
      const places = new GcPlaces(scope);
      const isDry = optionsOf(data).dryRun;
      const file = kind === 'condemned' && !isDry ? places.quarantine(run) : undefined;
      const key = file ?? places.list(run, kind === 'deleted' ? 'plan' : kind);
      const pointer = places.pointer(key);
      if (kind === 'condemned' && !(await adapterOf(context, scope).exists(pointer))) {
        throw new EngineError('data_gone', 'No data', { subject: 'object' });
      }
      return collectPage(
        objects(context, scope, key, kind === 'deleted', after),
        amount,
        (item) => item.address,
      );
    },
    cancel: async ({ repository, run }) => {
      const scope = await open(repository);
      const { data } = await readRun(context, scope, run);
      if (isOver(data)) throw new EngineError('conflict', 'run already ended', { subject: 'task' });
      const now = timestampFromMillis(context.clock());
      const changed = await changeRun(context, scope, run, (record) => {
        if (isOver(record)) return undefined;
        const isQueued = record.state === gcRunStates.indexOf('queued');
        if (!isQueued) return { ...record, cancel: true };
        return { ...record, cancel: true, state: gcRunStates.indexOf('canceled'), ended: now, updated: now };
      });
      const queued = await findQueued(context, scope);
      if (changed !== undefined && isOver(changed) && queued?.runId === run) await dequeue(context, queued);
    },
    quarantine: async (repository) => {
      const scope = await open(repository);
      const found = await context.kv.get(scope.partition, quarantineKey);
      const data = found === undefined ? undefined : gcQuarantineMessage.decode(found.value);
      if (data === undefined || data.objects === 0) return { objects: 0, bytes: 0 };
      const oldest = timestampToMillis(data.oldest);
      const from = Math.max(oldest, timestampToMillis(data.notBefore));
      const nextDue = Math.ceil((from + (await quarantineOf(context, scope))) / 1000);
      return { objects: data.objects, bytes: data.bytes, oldest: Math.floor(oldest / 1000), nextDue };
    },
    rescue: (options) => rescue(context, options),
    getSettings: async (repository) => readSettings(context, await open(repository)),
    setSettings: async ({ repository, settings }) => {
      const scope = await open(repository);
      checkNotReadOnly(scope, false);
      await writeSettings(context, scope, settings);
    },
  };
}

function shown(context: EngineContext, data: Parameters<typeof toRun>[0]): ReturnType<typeof toRun> {
  const run = toRun(data);
  const isLost = run.state === 'running' && context.clock() - run.updated > lostAfterMs;
  return isLost ? { ...run, state: 'failed', error: collectorLost } : run;
}

/** Of what was planned to be deleted, what is not among the kept and the failed. */
async function* objects(
  context: EngineContext,
  scope: RepositoryScope,
  key: string,
  isDeleted: boolean,
  after = '',
): AsyncGenerator<GcObject> {
  const places = new GcPlaces(scope);
  const adapter = adapterOf(context, scope);
  const others = new Set<string>();
  if (isDeleted) {
    for (const kind of ['kept.jsonl.gz', 'failed.jsonl.gz']) {
      const pointer = places.pointer(key.replace('plan.jsonl.gz', kind));
      for await (const { address } of readStoredGarbage(adapter, pointer)) others.add(address);
    }
  }
  for await (const garbage of readStoredGarbage(adapter, places.pointer(key))) {
    const { address, size, class: garbageClass, condemned_at: condemnedAt } = garbage;
    if (others.has(address) || Buffer.compare(Buffer.from(address), Buffer.from(after)) <= 0) continue;
    yield { address, size, class: garbageClass, condemnedAt: Math.floor(condemnedAt / 1000) };
  }
}

async function rescue(context: EngineContext, options: Parameters<GcRuns['rescue']>[0]): Promise<void> {
  const { repository, user, ref, days = 30, all = false } = options;
  if ((ref === undefined || ref === '') !== all) throw invalid('give either ref or all', 'repository');
  if (!Number.isInteger(days) || days < 0 || days > mostDays) {
    throw invalid(
      `argument days: invalid value: validation error: ${days} is not between 0 and ${mostDays}`,
      'repository',
    );
  }
  const scope = await context.repositories.open(repository);
  checkNotReadOnly(scope, false);
  const { kv } = context;
  const now = context.clock();
  if (ref !== undefined && ref !== '') {
    const commitId = await resolveCommitId(context, scope, ref);
    if (days === 0) await kv.delete(scope.partition, keepKey(commitId));
    else {
      const until = timestampFromMillis(now + days * dayMs);
      const commit = await context.commits.get(scope, commitId);
      await kv.set(scope.partition, keepKey(commitId), gcKeepMessage.encode({ until, user }));
      await context.gate.commitById(scope, commit);
    }
    return;
  }
  for (;;) {
    const found = await kv.get(scope.partition, quarantineKey);
    const data = found === undefined ? undefined : gcQuarantineMessage.decode(found.value);
    const empty = { runId: '', objects: 0, bytes: 0, oldest: zeroTimestamp, generation: 0 };
    const value = gcQuarantineMessage.encode({ ...empty, ...data, notBefore: timestampFromMillis(now) });
    if (await kv.setIf(scope.partition, quarantineKey, value, found?.predicate ?? 'absent')) return;
  }
}
