import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import type { Objects } from '../face/objects.ts';
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
    for (const item of items) {
      if (item.kind !== 'object') continue;
      await closeUntil(item.path);
      const directory = item.path.slice(0, item.path.lastIndexOf('/') + 1);
      const top = open.at(-1);
      if (top?.directory === directory) top.addresses.push(item.physicalAddress);
      else open.push({ directory, addresses: [item.physicalAddress] });
    }
    if (!page.hasMore) break;
    after = page.nextOffset;
  }
  await closeUntil(undefined);
  return `${namespace}/symlinks`;
}

async function writeSymlink(
  context: EngineContext,
  scope: RepositoryScope,
  branch: string,
  directory: string,
  addresses: readonly string[],
): Promise<void> {
  await adapterOf(context, scope).put(
    {
      storageNamespace: scope.repository.storageNamespace,
      identifier: `symlinks/${scope.repository.id}/${branch}/${directory}symlink.txt`,
      identifierType: 'relative',
    },
    Buffer.from(addresses.join('\n')),
  );
}
