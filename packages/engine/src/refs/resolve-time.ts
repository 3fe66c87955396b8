import { timestampToMillis, type MoveData } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { invalid, notFound } from '../context/refusals.ts';
import type { Commit } from '../face/model.ts';
import { isBranchName } from '../names/names.ts';
import { moveTime } from '../moves/move-id.ts';
import { commitText, type RefType } from '../moves/move-log.ts';
import { shownSince, type ShownSince } from '../moves/retention.ts';
import type { RepositoryScope } from '../store/scope.ts';
import type { RefTime } from './parse-time.ts';

const second = 1e6;
/** Clocks differ: a time that lies so far ahead is now. */
const aheadMicros = 60 * second;
/** Another server may resolve a time that moves along a little later. */
const clockErrorMicros = 3600 * second;
const fullCommitId = /^[0-9a-fA-F]{64}$/;
const commitIdPrefix = /^[0-9a-fA-F]{1,64}$/;

/** A ref with a log, living or deleted. */
export interface LoggedRef {
  readonly type: RefType;
  readonly id: string;
  /** Undefined: it is deleted. */
  readonly head: string | undefined;
  /** Where the deleted one pointed. */
  readonly lastHead: string;
  /** Empty: nobody recorded a move of it. */
  readonly lastMove: Buffer;
  readonly user: string;
}

/** Where a ref stood, and when. */
export interface StoodAt {
  readonly commitId: string;
  /** The move that had put it there; undefined when nobody recorded it. */
  readonly moveId: Buffer | undefined;
  /** A time at which it stood there, in microseconds; undefined when only commits were asked. */
  readonly micros: number | undefined;
}

/** Where a ref stood at a time. */
export async function resolveAtTime(
  context: EngineContext,
  scope: RepositoryScope,
  base: string,
  time: RefTime,
  headBranch: string,
): Promise<StoodAt> {
  try {
    const stood = await findStood(context, scope, base, time, headBranch);
    context.refObserver?.resolvedTime(time.kind, true);
    return stood;
  } catch (error) {
    context.refObserver?.resolvedTime(time.kind, false);
    throw error;
  }
}

async function findStood(
  context: EngineContext,
  scope: RepositoryScope,
  base: string,
  time: RefTime,
  headBranch: string,
): Promise<StoodAt> {
  const ref = await findBase(context, scope, base, headBranch);
  const now = context.clock() * 1000;
  if (time.kind === 'moves') return resolveBack(context, scope, ref, time.count);
  if (time.kind === 'commit') {
    const commitId = await resolveByCommitDate(context, scope, ref, time.micros);
    return { commitId, moveId: undefined, micros: undefined };
  }
  const at = time.kind === 'instant' ? time.micros : now - time.micros;
  if (at > now + aheadMicros) throw invalid(`${timeText(at)} lies ahead: give a time that has passed`, 'ref');
  return resolveInstant(context, scope, ref, Math.min(at, now), at >= now);
}

/** Every commit at which a ref stood since a time that moves along, as far back as its log goes. */
export async function* positionsSince(
  context: EngineContext,
  scope: RepositoryScope,
  base: string,
  time: RefTime & { readonly kind: 'ago' | 'moves' },
): AsyncGenerator<string> {
  const ref = await findBase(context, scope, base, scope.repository.defaultBranch);
  const since = time.kind === 'ago' ? context.clock() * 1000 - time.micros - clockErrorMicros : 0;
  const most = time.kind === 'moves' ? time.count : Number.POSITIVE_INFINITY;
  if (ref.head !== undefined) yield ref.head;
  for (let [id, count]: [Buffer, number] = [ref.lastMove, 0]; id.length > 0 && count < most; count += 1) {
    // Where it stood before that is out of sight.
    if (moveTime(id) < since) return;
    const record = await context.moves.find(scope, id);
    if (record === undefined) return;
    const stood = commitText(record.old);
    if (stood !== undefined) yield stood;
    id = record.prev;
  }
}

async function findBase(
  context: EngineContext,
  scope: RepositoryScope,
  base: string,
  headBranch: string,
): Promise<LoggedRef> {
  if (fullCommitId.test(base) && (await context.commits.find(scope, base.toLowerCase())) !== undefined) {
    throw noHistory();
  }
  const found = await findLogged(context, scope, base);
  if (found !== undefined) return found;
  if (commitIdPrefix.test(base)) {
    const commit = await context.commits.findByPrefix(scope, base.toLowerCase());
    if (commit !== undefined) throw noHistory();
  }
  const named = base === 'HEAD' ? await findLogged(context, scope, headBranch) : undefined;
  if (named === undefined) throw notFound('ref');
  return named;
}

function noHistory(): Error {
  return invalid('a commit has no history of moves', 'ref');
}

/** A branch or tag of that name, else the last one that was deleted; branches first. */
export async function findLogged(
  context: EngineContext,
  scope: RepositoryScope,
  id: string,
  types: readonly RefType[] = ['branch', 'tag'],
): Promise<LoggedRef | undefined> {
  const mayBeBranch = isBranchName(id);
  const asked = types.filter((type) => type === 'tag' || mayBeBranch);
  for (const type of asked) {
    const living =
      type === 'branch' ? await context.branches.find(scope, id) : await context.tags.find(scope, id);
    if (living === undefined) continue;
    const { commitId, lastMove } = living.data;
    return { type, id, head: commitId, lastHead: commitId, lastMove, user: '' };
  }
  for (const type of asked) {
    const grave = await context.moves.findGrave(scope, type, id);
    if (grave === undefined) continue;
    const lastHead = commitText(grave.commit) ?? '';
    return { type, id, head: undefined, lastHead, lastMove: grave.lastMove, user: grave.user };
  }
  return undefined;
}

async function resolveInstant(
  context: EngineContext,
  scope: RepositoryScope,
  ref: LoggedRef,
  at: number,
  isNow: boolean,
): Promise<StoodAt> {
  const { lastMove, head } = ref;
  if (lastMove.length === 0) {
    const since = await context.moves.since(scope);
    if (at < since && !isNow) throw noRecord(ref, since);
    return { commitId: head ?? ref.lastHead, moveId: undefined, micros: at };
  }
  if (at >= moveTime(lastMove)) {
    if (head === undefined) throw wasDeleted(ref, at);
    if (!isNow) await checkNoGap(context, scope, ref);
    return { commitId: head, moveId: lastMove, micros: at };
  }
  const log = new LogReader(context, scope, ref, await shownSince(context, scope));
  let [id, record] = await log.newest();
  for (;;) {
    const next = [record.jump, record.prev].find((earlier) => earlier.length > 0 && moveTime(earlier) > at);
    if (next === undefined) break;
    [id, record] = [next, await log.read(next)];
  }
  const stood = commitText(record.old);
  if (stood === undefined) {
    throw notFound(
      'ref',
      `${named(ref)} did not exist at ${timeText(at)}: created ${timeText(moveTime(id))}`,
    );
  }
  if (record.prev.length === 0) {
    const since = await context.moves.since(scope);
    if (at < since) throw noRecord(ref, since);
  }
  return { commitId: stood, moveId: orNone(record.prev), micros: at };
}

async function resolveBack(
  context: EngineContext,
  scope: RepositoryScope,
  ref: LoggedRef,
  count: number,
): Promise<StoodAt> {
  if (count === 0) {
    if (ref.head === undefined) throw wasDeleted(ref, context.clock() * 1000);
    return broughtBy(ref.head, ref.lastMove);
  }
  if (ref.lastMove.length === 0) throw tooFew(ref, 1);
  const log = new LogReader(context, scope, ref, await shownSince(context, scope));
  const newest = await log.newest();
  const record = await log.back(newest, count - 1);
  const stood = record === undefined ? undefined : commitText(record.old);
  if (stood !== undefined) return broughtBy(stood, record?.prev ?? Buffer.alloc(0));
  if (record !== undefined && record.prev.length > 0) {
    throw notFound('ref', `${named(ref)} did not exist ${count} moves ago`);
  }
  const [, { depth }] = newest;
  const first = await log.back(newest, depth - 1);
  throw tooFew(ref, depth + (first !== undefined && first.old.length > 0 ? 1 : 0));
}

function broughtBy(commitId: string, move: Buffer): StoodAt {
  const moveId = orNone(move);
  return { commitId, moveId, micros: moveId === undefined ? undefined : moveTime(moveId) };
}

function orNone(move: Buffer): Buffer | undefined {
  return move.length === 0 ? undefined : move;
}

/** Needs no log: the newest commit of the first-parent line that was made by then. */
async function resolveByCommitDate(
  context: EngineContext,
  scope: RepositoryScope,
  ref: LoggedRef,
  at: number,
): Promise<string> {
  for (let id: string | undefined = ref.lastHead; id !== undefined && id !== '';) {
    const commit: Commit = await context.commits.get(scope, id);
    if (timestampToMillis(commit.creationDate) * 1000 <= at) return id;
    // Commits of version 0 have their main parent last.
    id = commit.version === 0 ? commit.parents.at(-1) : commit.parents[0];
  }
  throw notFound('ref', `${named(ref)} has no commit made by ${timeText(at)}`);
}

/** Reads the log of one ref, as far as it is shown. */
class LogReader {
  readonly #context: EngineContext;
  readonly #scope: RepositoryScope;
  readonly #ref: LoggedRef;
  readonly #since: ShownSince;

  constructor(context: EngineContext, scope: RepositoryScope, ref: LoggedRef, since: ShownSince) {
    this.#context = context;
    this.#scope = scope;
    this.#ref = ref;
    this.#since = since;
  }

  async newest(): Promise<[Buffer, MoveData]> {
    const { lastMove } = this.#ref;
    const record = await this.read(lastMove);
    if (!leadsTo(record, this.#ref)) throw gap(this.#ref);
    return [lastMove, record];
  }

  async read(id: Buffer): Promise<MoveData> {
    const record = await this.#context.moves.find(this.#scope, id);
    const isShown = record !== undefined && moveTime(id) >= this.#since.of(record.hidden);
    if (!isShown) throw noRecord(this.#ref, moveTime(id));
    return record;
  }

  /** The record so many moves before `start`; undefined when the log does not go back so far. */
  async back(start: readonly [Buffer, MoveData], steps: number): Promise<MoveData | undefined> {
    let [, record] = start;
    const depth = record.depth - steps;
    while (record.depth > Math.max(depth, 1)) {
      const jumps = record.jump.length > 0 && record.jumpDepth >= depth;
      record = await this.read(jumps ? record.jump : record.prev);
    }
    if (depth >= 1) return record;
    // The log was cut off here: there is more, but nobody knows it any more.
    if (record.prev.length > 0) throw noRecord(this.#ref, moveTime(record.prev));
    return undefined;
  }
}

/** A server that records nothing may have moved the ref beside us. */
async function checkNoGap(context: EngineContext, scope: RepositoryScope, ref: LoggedRef): Promise<void> {
  const record = await context.moves.find(scope, ref.lastMove);
  if (record !== undefined && !leadsTo(record, ref)) throw gap(ref);
}

function leadsTo(record: MoveData, ref: LoggedRef): boolean {
  return commitText(record.new) === ref.head;
}

function gap(ref: LoggedRef): Error {
  return notFound('ref', `the log of ${named(ref)} has a gap before its present head`);
}

function wasDeleted(ref: LoggedRef, at: number): Error {
  const deleted = `deleted ${timeText(moveTime(ref.lastMove))} by ${ref.user}`;
  return notFound('ref', `${named(ref)} did not exist at ${timeText(at)}: ${deleted}`);
}

function noRecord(ref: LoggedRef, before: number): Error {
  return notFound('ref', `no record of ${named(ref)} before ${timeText(before)}; use ${ref.id}@{commit …}`);
}

function tooFew(ref: LoggedRef, count: number): Error {
  return notFound('ref', `${named(ref)} has ${count} recorded position${count === 1 ? '' : 's'}`);
}

function named(ref: LoggedRef): string {
  return `${ref.type} ${ref.id}`;
}

export function timeText(micros: number): string {
  return new Date(Math.floor(micros / 1000)).toISOString();
}
