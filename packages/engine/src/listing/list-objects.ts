import type { PresignedUrl } from '@svc/block';
import { keySuccessor } from '@svc/encoding';
import type { RecordIterator } from '../committed/tree.ts';
import { fromBlockError } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { pageSize } from '../context/page.ts';
import { notFound } from '../context/refusals.ts';
import type { ListObjectsOptions, ObjectPage } from '../face/objects.ts';
import { parsePrefix } from '../names/names.ts';
import { pointerOf } from '../objects/object-entry.ts';
import { ofBranch, resolveRef, type ResolvedTarget } from '../refs/resolve-ref.ts';
import { sameState } from '../staging/lookup.ts';
import { Overlay } from '../staging/overlay.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { BranchView } from './branch-view.ts';
import { fillPage } from './fill-page.ts';
import { FoldersAhead } from './folders-ahead.ts';
import { planWalk, type Walk } from './key-range.ts';
import type { PageStorage } from './item-cursor.ts';
import { PageBuilder, type ListedPage } from './object-page.ts';

/** How often a page is built anew because the branch moved under it. */
const maxRebuilds = 3;
/** For larger pages it is cheaper to read too much of what is staged than to read the committed entries twice. */
const smallPage = 256;

/** One page of the objects a ref shows, folded at the delimiter. */
export async function listObjects(context: EngineContext, options: ListObjectsOptions): Promise<ObjectPage> {
  const prefix = parsePrefix(options.prefix ?? '');
  const delimiter =
    options.delimiter === undefined || options.delimiter === '' ? undefined : Buffer.from(options.delimiter);
  const walk = planWalk(prefix, Buffer.from(options.after ?? ''), delimiter);
  const amount = pageSize(options.amount, options.maxAmount);
  const scope = await context.repositories.open(options.repository);
  const storage: PageStorage = {
    adapter: adapterOf(context, scope),
    storageNamespace: scope.repository.storageNamespace,
  };
  let target = await resolveRef(context, scope, options.ref);
  for (let rebuild = 0; ; rebuild += 1) {
    const page = await buildPage(context, scope, target, walk, amount, storage);
    const { head } = target;
    if (head === undefined || !target.staged || rebuild === maxRebuilds)
      return finish(page, storage, options);
    // A commit meanwhile may have moved keys from tokens to a tree this page did not look at.
    const now = await context.branches.find(scope, head.data.id);
    if (now === undefined) throw notFound('ref');
    if (sameState(now, head)) return finish(page, storage, options);
    page.release();
    target = ofBranch(now);
  }
}

async function finish(
  page: ListedPage,
  storage: PageStorage,
  options: ListObjectsOptions,
): Promise<ObjectPage> {
  if (options.presign !== true) return page;
  const urls: Promise<PresignedUrl | undefined>[] = [];
  page.visit((item) => urls.push(presignItem(storage, item)));
  try {
    page.setPresigned(await Promise.all(urls));
  } catch (error) {
    throw fromBlockError(error);
  }
  return page;
}

function presignItem(
  { adapter, storageNamespace }: PageStorage,
  item: { kind: string; path: string; address: string; addressType: 'relative' | 'full' | 'by_prefix' },
): Promise<PresignedUrl | undefined> {
  if (item.kind === 'common_prefix') return Promise.resolve(undefined);
  const addressType = item.addressType === 'relative' ? 1 : item.addressType === 'full' ? 2 : 0;
  const pointer = pointerOf(storageNamespace, { address: item.address, addressType });
  return adapter.presign(pointer, 'read', { fileName: item.path.slice(item.path.lastIndexOf('/') + 1) });
}

async function buildPage(
  context: EngineContext,
  scope: RepositoryScope,
  target: ResolvedTarget,
  walk: Walk,
  amount: number,
  storage: PageStorage,
): Promise<ListedPage> {
  const { start, prefix, delimiter } = walk;
  if (start === undefined) return new PageBuilder().build(storage, false);
  const commit = await context.commits.get(scope, target.commitId);
  const openTree = (): RecordIterator => context.trees.iterate(scope.committed, commit.metaRangeId, start);
  const tree = openTree();
  const read = async (records: RecordIterator): Promise<ListedPage> => {
    const builder = new PageBuilder();
    return builder.build(storage, await fillPage(builder, records, walk, amount));
  };
  let changes: Overlay | undefined;
  // Where the store answers at once, asking ahead costs more than waiting.
  const isRemote = context.kv.valueAtOnce === undefined;
  const jumps = delimiter === undefined || !isRemote ? undefined : new FoldersAhead(openTree, walk, amount);
  try {
    if (target.head === undefined || !target.staged) return await read(tree);
    const { tokens } = target.head;
    const range = { from: start, prefix, wanted: amount };
    if (delimiter === undefined && amount <= smallPage) {
      // The committed entries alone tell how far the page can reach: no more of what is staged is read.
      const committed = await read(tree);
      const before = committed.hasMore ? keySuccessor(tree.key) : undefined;
      changes = new Overlay(context.kv, tokens, { ...range, before });
      if (await changes.isEmpty()) return committed;
      committed.release();
      tree.seek(start);
      const view = new BranchView(changes, tree);
      const page = await read(view);
      if (before === undefined || (page.hasMore && Buffer.compare(view.key, before) < 0)) return page;
      // Deletions made room for what lies behind.
      page.release();
      changes.close();
      tree.seek(start);
    }
    changes = new Overlay(context.kv, tokens, { ...range, jumps });
    return await read(new BranchView(changes, tree));
  } finally {
    changes?.close();
    jumps?.close();
    tree.close();
  }
}
