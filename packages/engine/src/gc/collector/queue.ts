import { gcRunMessage, gcRunStates, runTimeBase, timestampFromMillis, zeroTimestamp } from '@svc/encoding';
import type { KvPredicate } from '@svc/kv';
import type { EngineContext } from '../../context/engine-context.ts';
import { EngineError } from '../../errors.ts';
import type { GcRunOptions } from '../../face/gc-runs.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { gcPartition, queueKey, queuePrefix, runKey } from '../gc-keys.ts';

/** A run that waits for a server to take it. */
export interface QueuedRun {
  readonly runId: string;
  readonly repository: string;
  readonly key: Buffer;
  readonly predicate: KvPredicate | undefined;
}

/** At most one run of a repository waits or works. */
export async function enqueueRun(
  context: EngineContext,
  scope: RepositoryScope,
  options: GcRunOptions,
  user: string,
): Promise<string> {
  const id = context.xids.nextDescending(runTimeBase);
  const now = timestampFromMillis(context.clock());
  const record = gcRunMessage.encode({
    id,
    state: gcRunStates.indexOf('queued'),
    phase: 0,
    options: JSON.stringify(options),
    user,
    created: now,
    started: zeroTimestamp,
    ended: zeroTimestamp,
    updated: now,
    done: 0,
    total: 0,
    report: '',
    error: '',
    generation: 0,
    cancel: false,
  });
  await context.kv.set(scope.partition, runKey(id), record);
  const entry = Buffer.from(JSON.stringify({ run: id, repository: scope.repository.id }));
  if (await context.kv.setIf(gcPartition, queueKey(scope.partition), entry, 'absent')) return id;
  await context.kv.delete(scope.partition, runKey(id));
  const other = await findQueued(context, scope);
  throw new EngineError(
    'conflict',
    `garbage collection is already running: run ${other?.runId ?? 'unknown'}`,
    { subject: 'repository' },
  );
}

export async function findQueued(
  context: EngineContext,
  scope: RepositoryScope,
): Promise<QueuedRun | undefined> {
  const key = queueKey(scope.partition);
  const found = await context.kv.get(gcPartition, key);
  return found && { ...parse(found.value), key, predicate: found.predicate };
}

export async function* listQueue(context: EngineContext): AsyncGenerator<QueuedRun> {
  for await (const page of context.kv.scan(gcPartition, { prefix: queuePrefix })) {
    for (const { key, value } of page) yield { ...parse(value), key, predicate: undefined };
  }
}

/** Only the entry of this very run. */
export async function dequeue(context: EngineContext, { key, runId }: QueuedRun): Promise<void> {
  const found = await context.kv.get(gcPartition, key);
  if (found === undefined || parse(found.value).runId !== runId) return;
  await context.kv.deleteIf(gcPartition, key, found.predicate);
}

function parse(value: Buffer): { readonly runId: string; readonly repository: string } {
  const { run, repository } = JSON.parse(value.toString()) as { run: string; repository: string };
  return { runId: run, repository };
}
