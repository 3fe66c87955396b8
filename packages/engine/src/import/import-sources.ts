import { BlockError, type BlockAdapter } from '@svc/block';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import type { ImportScope } from '../committed/tree.ts';
import { EngineError } from '../errors.ts';
import type { ImportPath, StartImportOptions } from '../face/imports.ts';
import { parseKey, parsePrefix } from '../names/names.ts';
import { liesInside, trimSlash } from '../repositories/namespaces.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** A checked source: where it is and what its keys become. */
export interface ImportSource {
  readonly type: ImportPath['type'];
  readonly uri: string;
  /** The exact key of an object; the prefix (empty or ending in `/`) of a common prefix. */
  readonly destination: string;
}

/** Refuses what could never be imported; what the store alone can tell comes out while it runs. */
export async function checkSources(
  context: EngineContext,
  scope: RepositoryScope,
  options: StartImportOptions,
): Promise<ImportSource[]> {
  const adapter = adapterOf(context, scope);
  // The memory store does not offer imports to users, but they work.
  if (!adapter.info.importSupport && adapter.type !== 'mem') {
    throw new EngineError('forbidden', 'import is not supported for this storage', { subject: 'import' });
  }
  const namespace = trimSlash(await adapter.canonicalUri(scope.repository.storageNamespace));
  const sources: ImportSource[] = [];
  for (const path of options.paths) {
    const source = checkDestination(path);
    const canonical = await canonicalSource(adapter, source.uri);
    if (canonical !== undefined) {
      checkOutside(source, canonical, namespace);
      await checkMayRead(context, adapter, scope, canonical, options);
    }
    sources.push(source);
  }
  return sources;
}

export function scopeOf(sources: readonly ImportSource[]): ImportScope {
  const destinations = (type: ImportPath['type']): Buffer[] =>
    sources.filter((source) => source.type === type).map((source) => Buffer.from(source.destination));
  return { prefixes: destinations('common_prefix'), keys: destinations('object') };
}

function checkDestination(path: ImportPath): ImportSource {
  if (path.type === 'object') {
    parseKey(path.destination, 'destination');
    return { type: 'object', uri: path.path, destination: path.destination };
  }
  if ((path.type as string) !== 'common_prefix') {
    throw invalid(
      `import path type '${path.type}': invalid import source: use common_prefix or object`,
      'import',
    );
  }
  parsePrefix(path.destination);
  const whole = path.destination === '' || path.destination.endsWith('/');
  return {
    type: 'common_prefix',
    uri: path.path,
    destination: whole ? path.destination : `${path.destination}/`,
  };
}

/** Undefined when the store does not know such addresses; the import then fails with the store's own words. */
async function canonicalSource(adapter: BlockAdapter, uri: string): Promise<string | undefined> {
  try {
    return await adapter.canonicalUri(uri);
  } catch (error) {
    if (error instanceof BlockError) return undefined;
    throw error;
  }
}

function checkOutside(source: ImportSource, canonical: string, namespace: string): void {
  if (liesInside(trimSlash(canonical), namespace)) {
    throw invalid(
      `import path (${source.uri}) in repository namespace (${namespace}) is prohibited: invalid import source`,
      'import',
    );
  }
  // Prefixes match raw text: `…/ns` as a source would also take `…/ns2`.
  const prefix = source.uri.endsWith('/') && !canonical.endsWith('/') ? `${canonical}/` : canonical;
  if (source.type === 'common_prefix' && `${namespace}/`.startsWith(prefix)) {
    throw invalid(
      `import path (${source.uri}) contains repository namespace (${namespace}): invalid import source`,
      'import',
    );
  }
}

/** Importing another repository's files would read around its permissions. */
async function checkMayRead(
  context: EngineContext,
  adapter: BlockAdapter,
  scope: RepositoryScope,
  canonical: string,
  options: StartImportOptions,
): Promise<void> {
  const owner = await context.namespaces.ownerOf(adapter, scope.repository.storageId, trimSlash(canonical));
  if (owner === undefined || (await options.mayReadRepository?.(owner)) === true) return;
  throw new EngineError(
    'forbidden',
    `import path lies in the storage namespace of repository '${owner}': read permission on all its objects is needed`,
    { subject: 'import' },
  );
}
