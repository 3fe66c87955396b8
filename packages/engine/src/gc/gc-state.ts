import {
  gcExternalMessage,
  gcHeld,
  gcIdle,
  gcStateMessage,
  repositoryActive,
  timestampFromMillis,
  timestampToMillis,
  type GcExternal,
} from '@svc/encoding';
import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { notFound, tooManyAttempts } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { externalKey, stateKey } from './gc-keys.ts';

/** A collector that asks for its next page later than this starts again: what it has been told is too old. */
const continuationLifetimeMs = 2 * 3_600_000;

/** Forbids collection while `work` fills the repository; after a failure it stays forbidden. */
export async function holdingCollection(
  context: EngineContext,
  scope: RepositoryScope,
  work: () => Promise<void>,
): Promise<void> {
  const generation = await hold(context, scope);
  await work();
  await context.kv.set(scope.partition, stateKey, stateOf(generation, gcIdle, ''));
}

/** Once no collector is at work; a repository that is held already stays so. */
async function hold(context: EngineContext, scope: RepositoryScope): Promise<number> {
  for (;;) {
    const isBusy = (await context.leaseWatch.look(scope.partition)) === 'busy';
    if (isBusy) await context.leaseWatch.rest(500);
    const found = await context.kv.get(scope.partition, stateKey);
    const last = found === undefined ? undefined : gcStateMessage.decode(found.value);
    if (last !== undefined && last.phase !== gcIdle && last.phase !== gcHeld) continue;
    const generation = (last?.generation ?? 0) + 1;
    const value = stateOf(generation, gcHeld, 'restore');
    if (await context.kv.setIf(scope.partition, stateKey, value, found?.predicate ?? 'absent')) {
      return generation;
    }
  }
}

function stateOf(generation: number, phase: number, reason: string): Buffer {
  return gcStateMessage.encode({
    generation,
    phase,
    runId: '',
    owner: '',
    beat: 0,
    batch: 0,
    inFlight: false,
    reason,
  });
}

/** Refuses to say what may be collected of a repository whose refs are not all there: everything else would be deleted. */
export async function checkCollectable(context: EngineContext, scope: RepositoryScope): Promise<void> {
  const { id, instanceUid, defaultBranch } = scope.repository;
  const record = await context.repositories.read(id);
  const isThis = record?.data.state === repositoryActive && record.data.instanceUid === instanceUid;
  if (!isThis) throw notFound('repository');
  const found = await context.kv.get(scope.partition, stateKey);
  if (found !== undefined && gcStateMessage.decode(found.value).phase === gcHeld) {
    throw refusal('a restore has not finished: delete the repository and restore again');
  }
  if ((await context.branches.find(scope, defaultBranch)) === undefined) {
    throw refusal('repository is bare: nothing to collect');
  }
}

export interface ExternalCall {
  /** First page of a run; it sets the time from which what moves is kept. */
  readonly begins?: boolean;
  /** The run that a further page belongs to. */
  readonly continues?: string | undefined;
}

/** Records a call of an external collector; answers when its run began, in milliseconds. */
export async function noteExternalCall(
  context: EngineContext,
  scope: RepositoryScope,
  call: ExternalCall,
): Promise<number> {
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const found = await context.kv.get(scope.partition, externalKey);
    const last = found === undefined ? undefined : gcExternalMessage.decode(found.value);
    const now = context.clock();
    if (call.continues !== undefined && !isFresh(last, now)) {
      throw refusal(`run ${call.continues} is too old: start again`);
    }
    const lastCall = timestampFromMillis(now);
    const firstPage = call.begins === true ? lastCall : (last?.firstPage ?? lastCall);
    const value = gcExternalMessage.encode({ generation: (last?.generation ?? 0) + 1, firstPage, lastCall });
    if (await context.kv.setIf(scope.partition, externalKey, value, found?.predicate ?? 'absent')) {
      return timestampToMillis(firstPage);
    }
  }
  throw tooManyAttempts();
}

function isFresh(last: GcExternal | undefined, now: number): boolean {
  return last !== undefined && now - timestampToMillis(last.lastCall) <= continuationLifetimeMs;
}

function refusal(message: string): EngineError {
  return new EngineError('conflict', message, { subject: 'repository' });
}
