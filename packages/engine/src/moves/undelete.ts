import { graveMessage, moveKinds, timestampFromMillis, type GraveData } from '@svc/encoding';
import { createBranchAt } from '../branches/create-branch.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { pageSize } from '../context/page.ts';
import { notFound } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Page } from '../face/model.ts';
import type {
  DeletedRef,
  ListDeletedOptions,
  LoggedRefType,
  UndeletedRef,
  UndeleteOptions,
} from '../face/reflog.ts';
import { checkNewBranchName, checkTagName } from '../names/names.ts';
import { checkNotReadOnly } from '../protection/writable.ts';
import { gravesOfPrefix } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { createTagAt } from '../tags/index.ts';
import { findShownMove, moveIdOf, timeOf, typeOf } from './list-moves.ts';
import { moveIdText, moveTime } from './move-id.ts';
import { commitText } from './move-log.ts';
import { shownSince } from './retention.ts';

const dayMs = 86_400_000;

/** Makes a deleted branch or tag again, where it pointed last. Uncommitted changes do not come back. */
export async function undelete(context: EngineContext, options: UndeleteOptions): Promise<UndeletedRef> {
  const { type, id, actor } = options;
  const name = options.as === undefined || options.as === '' ? id : options.as;
  if (type === 'branch') checkNewBranchName(name, options.as === undefined ? 'id' : 'as');
  else checkTagName(name);
  const scope = await context.repositories.open(options.repository);
  checkNotReadOnly(scope, options.force);
  const living =
    type === 'branch' ? await context.branches.find(scope, name) : await context.tags.find(scope, name);
  if (living !== undefined) {
    throw new EngineError('already_exists', `${type} already exists: not unique`, { subject: type });
  }
  const deletion = await findDeletion(context, scope, options);
  await checkTreeExists(context, scope, deletion.commitId);
  const create = {
    name,
    commitId: deletion.commitId,
    actor,
    kind: 'undelete',
    source: deletion.moveId,
    byId: true,
  } as const;
  const made =
    type === 'branch'
      ? await createBranchAt(context, scope, { ...create, hidden: deletion.hidden })
      : await createTagAt(context, scope, create);
  return { type, id: name, commitId: deletion.commitId, moveId: moveIdText(made.id) };
}

interface Deletion {
  readonly commitId: string;
  readonly moveId: string;
  readonly hidden: boolean;
}

async function findDeletion(
  context: EngineContext,
  scope: RepositoryScope,
  { type, id, moveId }: UndeleteOptions,
): Promise<Deletion> {
  if (moveId !== undefined && moveId !== '') {
    const move = await findShownMove(context, scope, moveIdOf(moveId, 'move_id'));
    const isThat = move !== undefined && typeOf(move) === type && move.refId === id;
    const commitId = isThat && moveKinds[move.kind] === 'delete' ? commitText(move.old) : undefined;
    if (move === undefined || commitId === undefined) throw noneDeleted(type, id);
    return { commitId, moveId, hidden: move.hidden };
  }
  const grave = await context.moves.findGrave(scope, type, id);
  const commitId = grave === undefined ? undefined : commitText(grave.commit);
  if (grave === undefined || commitId === undefined) throw noneDeleted(type, id);
  const shown = await shownSince(context, scope);
  if (moveTime(grave.lastMove) < shown.of(grave.hidden)) {
    const until = restorableUntil(grave, shown.retentionOf(grave.hidden));
    const days = shown.retentionOf(grave.hidden) / dayMs;
    throw notFound(
      type,
      `no deleted ${type} '${id}': forgotten on ${new Date(until).toISOString()} (retention ${days} days)`,
    );
  }
  return { commitId, moveId: moveIdText(grave.lastMove), hidden: grave.hidden };
}

function noneDeleted(type: LoggedRefType, id: string): Error {
  return notFound(type, `no deleted ${type} '${id}'`);
}

/** What the log names may have been collected since. */
export async function checkTreeExists(
  context: EngineContext,
  scope: RepositoryScope,
  commitId: string,
): Promise<void> {
  const commit = await context.commits.find(scope, commitId);
  const isThere =
    commit !== undefined &&
    (commit.metaRangeId === '' ||
      (await context.trees.outline(scope.committed, commit.metaRangeId)) !== undefined);
  if (!isThere) throw new EngineError('data_gone', 'No data', { subject: 'object' });
}

/** Branches before tags, each in the order of their names. */
export async function listDeleted(
  context: EngineContext,
  options: ListDeletedOptions,
): Promise<Page<DeletedRef>> {
  const scope = await context.repositories.open(options.repository);
  const size = pageSize(options.amount);
  const shown = await shownSince(context, scope);
  const items: DeletedRef[] = [];
  const after = options.after ?? '';
  for (const type of ['branch', 'tag'] as const) {
    if (!options.types.includes(type)) continue;
    if (type === 'branch' && after.startsWith('tag/')) continue;
    const start = after.startsWith(`${type}/`) ? after.slice(type.length + 1) : undefined;
    for await (const { id, grave } of graves(context, scope, type, options.prefix ?? '', start)) {
      const isShown = moveTime(grave.lastMove) >= shown.of(grave.hidden);
      const commitId = commitText(grave.commit);
      if (!isShown || commitId === undefined || (grave.hidden && options.showHidden !== true)) continue;
      // A grave may outlive the deletion it is about by a moment.
      const living =
        type === 'branch' ? await context.branches.find(scope, id) : await context.tags.find(scope, id);
      if (living !== undefined) continue;
      if (items.length === size) {
        const last = items.at(-1);
        return { items, hasMore: true, nextOffset: last === undefined ? '' : `${last.type}/${last.id}` };
      }
      items.push({
        type,
        id,
        commitId,
        deletedAt: timeOf(grave.lastMove),
        deletedBy: grave.user,
        restorableUntil: timestampFromMillis(restorableUntil(grave, shown.retentionOf(grave.hidden))),
        moveId: moveIdText(grave.lastMove),
        hidden: grave.hidden,
      });
    }
  }
  return { items, hasMore: false, nextOffset: '' };
}

async function* graves(
  context: EngineContext,
  scope: RepositoryScope,
  type: LoggedRefType,
  prefix: string,
  after: string | undefined,
): AsyncGenerator<{ id: string; grave: GraveData }> {
  const base = gravesOfPrefix(type);
  const range = {
    prefix: Buffer.concat([base, Buffer.from(prefix)]),
    ...(after === undefined ? {} : { after: Buffer.concat([base, Buffer.from(after)]) }),
  };
  for await (const page of context.kv.scan(scope.partition, range)) {
    for (const { key, value } of page) {
      yield { id: key.subarray(base.length).toString(), grave: graveMessage.decode(value) };
    }
  }
}

function restorableUntil(grave: GraveData, retentionMs: number): number {
  return Math.floor(moveTime(grave.lastMove) / 1000) + retentionMs;
}
