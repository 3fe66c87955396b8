import {
  gcRunMessage,
  gcRunPhases,
  gcRunStates,
  timestampToMillis,
  type GcRunData,
  type NewEvent,
} from '@svc/encoding';
import type { KvPredicate, KvWrite } from '@svc/kv';
import type { EngineContext } from '../../context/engine-context.ts';
import { maxTries } from '../../context/back-off.ts';
import { notFound, tooManyAttempts } from '../../context/refusals.ts';
import type { GcReport, GcRun, GcRunOptions } from '../../face/gc-runs.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { taskEvent } from '../../tasks/task-runner.ts';
import { runKey, runsPrefix } from '../gc-keys.ts';

export interface StoredRun {
  readonly data: GcRunData;
  readonly predicate: KvPredicate;
}

export async function findRun(
  context: EngineContext,
  scope: RepositoryScope,
  id: string,
): Promise<StoredRun | undefined> {
  const found = await context.kv.get(scope.partition, runKey(id));
  return found && { data: gcRunMessage.decode(found.value), predicate: found.predicate };
}

export async function readRun(
  context: EngineContext,
  scope: RepositoryScope,
  id: string,
): Promise<StoredRun> {
  const run = /^[0-9a-v]{20}$/.test(id) ? await findRun(context, scope, id) : undefined;
  if (run === undefined) throw notFound('task', 'run not found');
  return run;
}

/**
 * `change` answers undefined to leave the record as it is; then so does this. The write that ends a run tells of it, and
 * it is the last one.
 */
export async function changeRun(
  context: EngineContext,
  scope: RepositoryScope,
  id: string,
  change: (data: GcRunData) => GcRunData | undefined,
): Promise<GcRunData | undefined> {
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const { data, predicate } = await readRun(context, scope, id);
    const next = change(data);
    if (next === undefined) return undefined;
    const key = runKey(id);
    const writes: KvWrite[] = [{ type: 'put', key, value: gcRunMessage.encode(next) }];
    if (isOver(next)) writes.push(context.told(ended(next)));
    if (await context.kv.change(scope.partition, { key, condition: predicate }, writes)) return next;
  }
  throw tooManyAttempts();
}

function ended({ id, state, user, error }: GcRunData): NewEvent {
  const isCompleted = state === gcRunStates.indexOf('completed');
  return taskEvent(id, { operation: 'gc', user, error: isCompleted ? '' : error || 'canceled' });
}

/** Newest first. */
export async function* listRuns(
  context: EngineContext,
  scope: RepositoryScope,
  after = '',
): AsyncGenerator<GcRunData> {
  const range = after === '' ? {} : { after: runKey(after) };
  for await (const page of context.kv.scan(scope.partition, { prefix: runsPrefix, ...range })) {
    for (const { value } of page) yield gcRunMessage.decode(value);
  }
}

export const isOver = (data: GcRunData): boolean => data.state > gcRunStates.indexOf('running');

export function optionsOf(data: GcRunData): GcRunOptions {
  return JSON.parse(data.options) as GcRunOptions;
}

export function toRun(data: GcRunData): GcRun {
  const started = timestampToMillis(data.started);
  const ended = timestampToMillis(data.ended);
  return {
    id: data.id,
    state: gcRunStates[data.state] ?? 'failed',
    phase: gcRunPhases[data.phase] ?? '',
    options: optionsOf(data),
    user: data.user,
    created: timestampToMillis(data.created),
    started: started === 0 ? undefined : started,
    ended: ended === 0 ? undefined : ended,
    updated: timestampToMillis(data.updated),
    done: data.done,
    total: data.total === 0 ? undefined : data.total,
    report: data.report === '' ? undefined : (JSON.parse(data.report) as GcReport),
    error: data.error === '' ? undefined : data.error,
  };
}
