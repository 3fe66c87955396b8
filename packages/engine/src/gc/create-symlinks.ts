import { withBlockStore } from '../context/block-refusals.ts';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import type { ObjectEntry, Objects } from '../face/objects.ts';
import { trimSlash } from '../repositories/namespaces.ts';
import type { RepositoryScope } from '../store/scope.ts';

export interface SymlinkOptions {
  readonly repository: string;
  readonly branch: string;
  readonly location?: string | undefined;
}

/** Writes one `symlink.txt` per directory, each listing the physical addresses of its objects. */
export async function createSymlinks(
  context: EngineContext,
  objects: Objects,
  options: SymlinkOptions,
): Promise<string> {
  const scope = await context.repositories.open(options.repository);
  const namespace = trimSlash(scope.repository.storageNamespace);
  // A directory is complete only when a key outside of it comes: its own keys surround those below it.
  const open: { readonly directory: string; readonly addresses: string[] }[] = [];
  const closeUntil = async (path: string | undefined): Promise<void> => {
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      if (path?.startsWith(top.directory) === true) return;
      await writeSymlink(context, scope, options.branch, top.directory, top.addresses);
      open.pop();
    }
  };
  // All are checked first: nothing is written when one cannot be.
  for await (const item of listed(objects, options)) checkListable(context, scope, item);
  for await (const item of listed(objects, options)) {
    checkListable(context, scope, item);
    await closeUntil(item.path);
    const directory = directoryOf(item.path);
    const top = open.at(-1);
    if (top?.directory === directory) top.addresses.push(item.physicalAddress);
    else open.push({ directory, addresses: [item.physicalAddress] });
  }
  await closeUntil(undefined);
  return `${namespace}/symlinks`;
}

async function* listed(objects: Objects, options: SymlinkOptions): AsyncGenerator<ObjectEntry> {
  let after = '';
  for (;;) {
    const page = await objects.list({
      repository: options.repository,
      ref: options.branch,
      prefix: options.location ?? '',
      after,
      amount: 1000,
    });
    const items = page.toArray();
    page.release();
    for (const item of items) if (item.kind === 'object') yield item;
    if (!page.hasMore) return;
    after = page.nextOffset;
  }
}

function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/** A directory becomes a folder of the store and an address a line of text; neither may become more than that. */
function checkListable(context: EngineContext, scope: RepositoryScope, item: ObjectEntry): void {
  const segments = directoryOf(item.path).split('/').slice(0, -1);
  const leaves = segments.some((segment) => segment === '.' || segment === '..');
  const isShared = adapterOf(context, scope).type === 'local' && segments.includes('');
  if (leaves || isShared) {
    throw invalid(
      `symlink files cannot be written for '${item.path}': its directory has a segment that is empty, "." or ".."`,
      'object',
    );
  }
  if (/[\r\n]/.test(item.physicalAddress)) {
    throw invalid(
      `symlink files cannot be written for '${item.path}': its address has a line break`,
      'object',
    );
  }
}

async function writeSymlink(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  directory: string,
  addresses: readonly string[],
): Promise<void> {
  const pointer = {
    storageNamespace: scope.repository.storageNamespace,
    identifier: `symlinks/${scope.repository.id}/${branch}/${directory}symlink.txt`,
    identifierType: 'relative',
  } as const;
  await withBlockStore(adapterOf(context, scope), (adapter) =>
    adapter.put(pointer, Buffer.from(addresses.join('\n'))),
  );
}
