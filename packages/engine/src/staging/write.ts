import {
  decodeEntry,
  decodeStagedEntry,
  encodeEntry,
  encodeStagedEntry,
  encodeTombstone,
  entryIdentity,
  maxValuePartBytes,
  type Entry,
} from '@svc/encoding';
import { KvError, type KvCondition, type KvValue } from '@svc/kv';
import type { TreeRecord } from '../committed/tree.ts';
import { maxTries, pauseBetweenWrites } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, notFound, tooManyAttempts } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { WriteCondition } from '../face/objects.ts';
import { checkReserved, isReservedKey } from '../objects/reserved-metadata.ts';
import type { BranchHead } from '../store/branch-store.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { lookupCommitted, lookupStaged } from './lookup.ts';

/** Largest user metadata of one object. */
const maxMetadataBytes = 64 * 1024;

/** The place of one write: a key of a branch. */
export interface StagedKey {
  readonly scope: RepositoryScope;
  readonly branch: string;
  readonly key: Buffer;
  /** The branch as the operation has just read it, which spares the first read here. */
  readonly head?: BranchHead | undefined;
}

/** Whether a write was made; or, where the branch was read right after it, what was read. */
type Outcome = boolean | BranchHead;

/**
 * Runs one write until it is certain that a commit which seals the token also sees the write: the token is the
 * same before and after. `write` returns false when it lost a race inside the token and must be tried again.
 */
export async function withStagingToken(
  context: EngineContext,
  place: StagedKey,
  operation: string,
  write: (head: BranchHead, token: Buffer) => Promise<Outcome>,
): Promise<void> {
  let known = place.head;
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    if (attempt > 0) {
      context.onRetry(operation);
      if (known === undefined) await pauseBetweenWrites();
    }
    const before = known ?? (await context.branches.get(place.scope, place.branch));
    const outcome = await write(before, before.tokens[0] ?? Buffer.from(before.data.stagingToken));
    const after =
      typeof outcome === 'boolean' ? await context.branches.get(place.scope, place.branch) : outcome;
    if (outcome !== false && after.data.stagingToken === before.data.stagingToken) return;
    // What was known at first may be a little old, which is no race.
    known = attempt === 0 && outcome !== false ? after : undefined;
  }
  throw tooManyAttempts();
}

/** Whether an entry may be stored. Once one was, a commit may have taken it, whatever became of the request. */
export interface EntryTrace {
  mayBeStored: boolean;
}

/** Stages an entry; returns once a later commit is sure to contain it. After a failure `trace` says what may be left. */
export function stageEntry(
  context: EngineContext,
  place: StagedKey,
  entry: Entry,
  condition: WriteCondition = {},
  trace: EntryTrace = { mayBeStored: false },
): Promise<void> {
  const value = encodeChange(place.key, entry);
  if (isUnconditional(condition)) {
    const head = place.head ?? context.branches.lately(place.scope, place.branch);
    return withStagingToken(context, { ...place, head }, 'stage', (_head, token) =>
      writeTraced(context, place, { token, value, trace }, () => setThenGet(context, place, token, value)),
    );
  }
  return withStagingToken(context, place, 'stage', async (head, token) => {
    const current = await readCurrent(context, place, head, token);
    // An earlier try, before a seal, may have left this very entry: that is success, not a rival.
    if (trace.mayBeStored && current.record !== undefined && isEntry(current.record, entry)) return true;
    checkCondition(condition, current.record);
    const stored = await writeTraced(context, place, { token, value, trace }, () =>
      context.kv.setIf(token, place.key, value, current.condition),
    );
    if (!stored && condition.ifMatch !== undefined) {
      throw new EngineError('conflict', 'the object was changed by another writer', { subject: 'object' });
    }
    return stored;
  });
}

/** What a branch holds does not matter to the write. */
export function isUnconditional({ ifNoneMatch, ifMatch }: WriteCondition): boolean {
  return ifNoneMatch === undefined && ifMatch === undefined;
}

function setThenGet(
  { branches }: EngineContext,
  { scope, branch, key }: StagedKey,
  token: Buffer,
  value: Buffer,
): Promise<BranchHead> {
  return branches.setThenGet(scope, branch, { partition: token, key, value });
}

function isEntry(record: TreeRecord, entry: Entry): boolean {
  return record.data.equals(encodeEntry(entry));
}

interface TracedWrite {
  readonly token: Buffer;
  readonly value: Buffer;
  readonly trace: EntryTrace;
}

async function writeTraced<T extends Outcome>(
  context: EngineContext,
  place: StagedKey,
  traced: TracedWrite,
  write: () => Promise<T>,
): Promise<T> {
  const { trace } = traced;
  const before = trace.mayBeStored;
  trace.mayBeStored = true;
  try {
    const stored = await write();
    trace.mayBeStored = before || stored !== false;
    return stored;
  } catch (error) {
    trace.mayBeStored = before || !(await isKnownMissing(context, place, traced, error));
    throw error;
  }
}

/**
 * Whether a failed write has certainly stored nothing: the store has answered, the value is not there, and no commit can
 * have taken it from there. A store that went silent may still carry the write out.
 */
async function isKnownMissing(
  context: EngineContext,
  place: StagedKey,
  { token, value }: TracedWrite,
  failure: unknown,
): Promise<boolean> {
  if (!(failure instanceof KvError) || failure.kind === 'unavailable') return false;
  try {
    const found = await context.kv.get(token, place.key);
    if (found?.value.equals(value) === true) return false;
    // Read after the value: a token that is still current was not sealed before.
    const head = await context.branches.find(place.scope, place.branch);
    return head?.tokens[0]?.equals(token) === true;
  } catch {
    return false;
  }
}

function encodeChange(key: Buffer, entry: Entry): Buffer {
  checkMetadata(entry);
  const data = encodeEntry(entry);
  if (data.length > maxValuePartBytes) {
    throw invalid(`entry of ${data.length} bytes is above the maximum of ${maxValuePartBytes}`, 'object');
  }
  return encodeStagedEntry(key, entryIdentity(entry), data);
}

export function checkMetadata(entry: Pick<Entry, 'metadata'>): void {
  checkReserved(entry.metadata);
  let size = 0;
  for (const [key, value] of Object.entries(entry.metadata)) {
    if (isReservedKey(key)) continue;
    size += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (size > maxMetadataBytes) {
    throw invalid(`user metadata of ${size} bytes is above the maximum of ${maxMetadataBytes}`, 'object');
  }
}

interface CurrentValue {
  /** What the branch shows: undefined when absent or deleted. */
  readonly record: TreeRecord | undefined;
  /** Holds while the token's own record is the one read. */
  readonly condition: KvCondition;
}

async function readCurrent(
  context: EngineContext,
  place: StagedKey,
  head: BranchHead,
  token: Buffer,
): Promise<CurrentValue> {
  const own = await context.kv.get(token, place.key);
  if (own !== undefined) return { record: presentRecord(own), condition: own.predicate };
  const record = await readBelowToken(context, place, head);
  return { record, condition: 'absent' };
}

function presentRecord(stored: KvValue): TreeRecord | undefined {
  const change = decodeStagedEntry(stored.value);
  return change.identity.length === 0 ? undefined : change;
}

/** What sealed tokens and the tree show, without the current token. */
async function readBelowToken(
  context: EngineContext,
  place: StagedKey,
  head: BranchHead,
): Promise<TreeRecord | undefined> {
  const sealed = await lookupStaged(context, head.tokens.slice(1), place.key);
  if (sealed !== undefined) return sealed.identity.length === 0 ? undefined : sealed;
  return lookupCommitted(context, place.scope, head.data.commitId, place.key);
}

/** Throws unless the condition holds for what is there now. */
export function checkCondition(condition: WriteCondition, record: TreeRecord | undefined): void {
  if (condition.ifNoneMatch === '*' && record !== undefined) {
    throw new EngineError('precondition_failed', 'path already exists', { subject: 'object' });
  }
  if (condition.ifMatch === undefined) return;
  if (record === undefined) throw notFound('object');
  if (condition.ifMatch !== '*' && decodeEntry(record.data).etag !== condition.ifMatch) {
    throw new EngineError('precondition_failed', 'Precondition failed', { subject: 'object' });
  }
}

/** Replaces the entry a branch shows by `change` of it, atomically on the staged record. */
export async function changeEntry(
  context: EngineContext,
  place: StagedKey,
  change: (entry: Entry) => Entry,
): Promise<void> {
  await withStagingToken(context, place, 'update-metadata', async (head, token) => {
    const current = await readCurrent(context, place, head, token);
    if (current.record === undefined) throw notFound('object');
    const value = encodeChange(place.key, change(decodeEntry(current.record.data)));
    return context.kv.setIf(token, place.key, value, current.condition);
  });
}

export interface RemoveOptions {
  readonly noTombstone?: boolean | undefined;
  readonly ifMatch?: string | undefined;
}

/** Deletes a key; a missing one is no error. */
export async function removeEntry(
  context: EngineContext,
  place: StagedKey,
  options: RemoveOptions = {},
): Promise<void> {
  await withStagingToken(context, place, 'delete', async (head, token) => {
    const own = await context.kv.get(token, place.key);
    const present = own === undefined ? undefined : presentRecord(own);
    if (own !== undefined && present === undefined) return true;
    if (own === undefined || options.noTombstone === true) {
      const below = await readBelowToken(context, place, head);
      if (below === undefined) {
        if (own === undefined) return true;
        checkIfMatch(options, present);
        return context.kv.deleteIf(token, place.key, own.predicate);
      }
      checkIfMatch(options, present ?? below);
    } else checkIfMatch(options, present);
    const tombstone = encodeTombstone(place.key);
    if (options.ifMatch !== undefined) {
      return context.kv.setIf(token, place.key, tombstone, own?.predicate ?? 'absent');
    }
    return setThenGet(context, place, token, tombstone);
  });
}

function checkIfMatch(options: RemoveOptions, record: TreeRecord | undefined): void {
  if (options.ifMatch !== undefined) checkCondition({ ifMatch: options.ifMatch }, record);
}
