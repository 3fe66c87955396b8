import { BlockError, type BlockAdapter, type BlockErrorKind } from '@svc/block';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { invalid } from '../context/refusals.ts';
import type { ImportScope } from '../committed/tree.ts';
import { EngineError } from '../errors.ts';
import type { ImportPath, StartImportOptions } from '../face/imports.ts';
import type { AddressRights } from '../face/objects.ts';
import { parseKey, parsePrefix } from '../names/names.ts';
import { checkImport } from '../objects/address-rights.ts';
import { refuseWaiting } from '../objects/given-address.ts';
import { liesInside, trimSlash } from '../repositories/namespaces.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** A checked source: where it is and what its keys become. */
export interface ImportSource {
  readonly type: ImportPath['type'];
  /** Of a common prefix: as the store walks it. */
  readonly uri: string;
  /** The exact key of an object; the prefix (empty or ending in `/`) of a common prefix. */
  readonly destination: string;
  /** What it uses of other repositories: an address, or a folder ending in `/`. */
  readonly foreign?: { readonly uri: string; readonly owners: readonly string[] } | undefined;
  /** Why the store cannot read it, to be said when the import runs. */
  readonly failure?: { readonly kind: BlockErrorKind; readonly message: string } | undefined;
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
    try {
      sources.push(await checkSource(context, adapter, source, { namespace, rights: options }));
    } catch (error) {
      if (!(error instanceof BlockError)) throw error;
      sources.push({ ...source, failure: { kind: error.kind, message: error.message } });
    }
  }
  return sources;
}

async function checkSource(
  context: EngineContext,
  adapter: BlockAdapter,
  source: ImportSource,
  { namespace, rights }: { readonly namespace: string; readonly rights: AddressRights },
): Promise<ImportSource> {
  const canonical = await adapter.canonicalUri(source.uri);
  if (liesInside(canonical, namespace)) {
    throw invalid(
      `import path (${source.uri}) in repository namespace (${namespace}) is prohibited: invalid import source`,
      'import',
    );
  }
  if (source.type === 'object') {
    const owner = await context.namespaces.ownerNow(adapter, canonical);
    if (owner !== undefined) await checkMayRead(owner, rights);
    await checkImport(adapter, rights, source.uri, canonical);
    refuseWaiting(await context.namespaces.waitingAt(adapter, canonical));
    return owner === undefined ? source : { ...source, foreign: { uri: canonical, owners: [owner] } };
  }
  const uri = await adapter.importSource(source.uri);
  const start = startOf(uri, canonical);
  if (`${namespace}/`.startsWith(start)) {
    throw invalid(
      `import path (${source.uri}) contains repository namespace (${namespace}): invalid import source`,
      'import',
    );
  }
  await context.namespaces.ownerNow(adapter, trimSlash(start));
  const owners = await context.namespaces.ownersBelow(adapter, start);
  for (const owner of owners) await checkMayRead(owner, rights);
  refuseWaiting(await context.namespaces.waitingAt(adapter, start));
  for (const spelling of new Set([uri, ...adapter.spellings(start)])) {
    await rights.checkImportBelow?.(spelling);
  }
  return owners.length === 0
    ? { ...source, uri }
    : { ...source, uri, foreign: { uri: folderOf(start), owners } };
}

/** The folder whose names begin with `start`: the register knows addresses and folders. */
function folderOf(start: string): string {
  return start.slice(0, start.lastIndexOf('/') + 1);
}

/** What the addresses of a walk begin with. Prefixes match raw text: `…/ns` also takes `…/ns2/x`. */
function startOf(uri: string, canonical: string): string {
  const isBucket = !canonical.includes('/', canonical.indexOf('://') + 3);
  return uri.endsWith('/') || isBucket ? `${trimSlash(canonical)}/` : canonical;
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

/** Importing another repository's files would read around its permissions. */
async function checkMayRead(owner: string, rights: AddressRights): Promise<void> {
  if ((await rights.mayReadRepository?.(owner)) === true) return;
  throw new EngineError(
    'forbidden',
    `import path touches the storage namespace of repository '${owner}': read permission on all its objects is needed`,
    { subject: 'import' },
  );
}
