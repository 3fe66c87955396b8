import { moveKinds, moveOfBranch, moveOfTag, type MoveData } from '@svc/encoding';
import type { EngineContext } from '../context/engine-context.ts';
import { pageSize } from '../context/page.ts';
import { invalid, notFound } from '../context/refusals.ts';
import type { InRepository, Page } from '../face/model.ts';
import type { ListMovesOptions, RefMoveInfo } from '../face/reflog.ts';
import { findLogged } from '../refs/resolve-time.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { earliestIdAt, moveIdText, moveTime, parseMoveId } from './move-id.ts';
import { commitText, type StoredMove } from './move-log.ts';
import { shownSince, type ShownSince } from './retention.ts';

/** A page that finds nothing ends here, and says where to go on. */
const maxExamined = 100_000;

export async function listMoves(
  context: EngineContext,
  options: ListMovesOptions,
): Promise<Page<RefMoveInfo>> {
  const after =
    options.after === undefined || options.after === '' ? undefined : moveIdOf(options.after, 'after');
  if (options.since !== undefined && options.until !== undefined && options.since > options.until) {
    throw invalid('since lies after until: give an earlier one');
  }
  for (const kind of options.kinds ?? []) {
    if (!(moveKinds as readonly string[]).includes(kind)) {
      throw invalid(`kind: '${kind}' is none of ${moveKinds.join(', ')}`);
    }
  }
  const scope = await context.repositories.open(options.repository);
  const shown = await shownSince(context, scope);
  const moves =
    options.ref === undefined || options.ref === ''
      ? context.moves.list(scope, { after: startOf(after, options.until) })
      : chain(context, scope, options.ref, options.types, after);
  return collect(moves, options, shown);
}

async function collect(
  moves: AsyncIterable<StoredMove>,
  options: ListMovesOptions,
  shown: ShownSince,
): Promise<Page<RefMoveInfo>> {
  const size = pageSize(options.amount);
  const earliest = Math.max((options.since ?? 0) * 1000, Math.min(shown.of(false), shown.of(true)));
  const items: RefMoveInfo[] = [];
  let examined = 0;
  let last = '';
  for await (const { id, data } of moves) {
    if (moveTime(id) < earliest) break;
    if (items.length === size || examined === maxExamined) return { items, hasMore: true, nextOffset: last };
    examined += 1;
    last = moveIdText(id);
    if (matches(id, data, options, shown)) items.push(infoOf(id, data));
  }
  return { items, hasMore: false, nextOffset: '' };
}

function matches(id: Buffer, data: MoveData, options: ListMovesOptions, shown: ShownSince): boolean {
  const type = typeOf(data);
  if (type === undefined || !options.types.includes(type)) return false;
  if (moveTime(id) < shown.of(data.hidden)) return false;
  if (options.until !== undefined && moveTime(id) > options.until * 1000 + 999) return false;
  if (data.hidden && options.showHidden !== true) return false;
  if (options.user !== undefined && options.user !== '' && data.user !== options.user) return false;
  const { kinds } = options;
  return kinds === undefined || kinds.length === 0 || kinds.includes(moveKinds[data.kind] ?? '');
}

/** Where a listing begins that shows nothing later than `until`. */
function startOf(after: Buffer | undefined, until: number | undefined): Buffer | undefined {
  if (until === undefined) return after;
  const latest = earliestIdAt((until + 1) * 1000);
  return after !== undefined && Buffer.compare(after, latest) < 0 ? after : latest;
}

async function* chain(
  context: EngineContext,
  scope: RepositoryScope,
  ref: string,
  types: ListMovesOptions['types'],
  after: Buffer | undefined,
): AsyncGenerator<StoredMove> {
  const logged = await findLogged(context, scope, ref, types);
  if (logged === undefined) throw notFound('ref');
  const from = after === undefined ? undefined : await context.moves.find(scope, after);
  if (from !== undefined && (from.refId !== ref || typeOf(from) !== logged.type)) {
    throw invalid(`after: this is no move of ${ref}`);
  }
  let next = after === undefined ? logged.lastMove : (from?.prev ?? Buffer.alloc(0));
  while (next.length > 0) {
    const data = await context.moves.find(scope, next);
    if (data === undefined) return;
    yield { id: next, data };
    next = data.prev;
  }
}

export async function getMove(
  context: EngineContext,
  options: InRepository & { readonly move: string },
): Promise<RefMoveInfo> {
  const id = moveIdOf(options.move, 'move');
  const scope = await context.repositories.open(options.repository);
  const data = await findShownMove(context, scope, id);
  if (data === undefined) throw notFound('ref', `no move ${options.move}`);
  return infoOf(id, data);
}

/** Undefined when there is no such move, or it lies further back than moves are shown. */
export async function findShownMove(
  context: EngineContext,
  scope: RepositoryScope,
  id: Buffer,
): Promise<MoveData | undefined> {
  const data = await context.moves.find(scope, id);
  if (data === undefined || typeOf(data) === undefined) return undefined;
  const shown = await shownSince(context, scope);
  return moveTime(id) < shown.of(data.hidden) ? undefined : data;
}

export function moveIdOf(text: string, field: string): Buffer {
  const id = parseMoveId(text);
  if (id === undefined) throw invalid(`${field}: '${text}' is no id of a move: 26 characters 0-9 and a-v`);
  return id;
}

export function typeOf(data: MoveData): 'branch' | 'tag' | undefined {
  if (data.refType === moveOfBranch) return 'branch';
  return data.refType === moveOfTag ? 'tag' : undefined;
}

function infoOf(id: Buffer, data: MoveData): RefMoveInfo {
  const oldCommitId = commitText(data.old);
  return {
    id: moveIdText(id),
    time: timeOf(id),
    kind: moveKinds[data.kind] ?? 'set',
    refType: typeOf(data) ?? 'branch',
    refId: data.refId,
    oldCommitId,
    newCommitId: commitText(data.new),
    user: data.user,
    source: data.source === '' ? undefined : data.source,
    hidden: data.hidden,
    requestId: data.requestId.length === 0 ? undefined : data.requestId.toString(),
    restorable: oldCommitId !== undefined,
  };
}

export function timeOf(id: Buffer): { seconds: number; nanos: number } {
  const micros = moveTime(id);
  return { seconds: Math.floor(micros / 1e6), nanos: (micros % 1e6) * 1000 };
}
