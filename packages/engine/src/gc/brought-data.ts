import { decodeStagedEntry, encodeEntry, type Entry, type RepositoryData } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import type { BroughtAddress } from '../objects/given-address.ts';
import { pointerOf } from '../objects/object-entry.ts';
import { liesInside } from '../repositories/namespaces.ts';
import type { StagedKey } from '../staging/write.ts';
import { listTrash } from '../store/deleted-repositories.ts';
import type { RepositoryScope } from '../store/scope.ts';
import { registerForeign } from './foreign.ts';

export interface BroughtEntry {
  readonly entry: Entry;
  readonly brought: BroughtAddress;
}

/** Stages an entry for data that may be garbage by now: it is there when this returns, and stays. */
export async function stagingBrought(
  context: EngineContext,
  place: StagedKey,
  { entry, brought }: BroughtEntry,
  stage: () => Promise<void>,
): Promise<void> {
  const { scope } = place;
  const isOwn = brought.repository === scope.repository.id;
  const owner = isOwn ? scope : await findOwner(context, scope, brought.repository, brought.canonical);
  if (!isOwn) await registerForeign(context, scope, brought.canonical);
  if (owner === undefined) return stage();
  const { gate } = context;
  const pointer = pointerOf(scope.repository.storageNamespace, entry);
  const isThere = (): Promise<boolean> => adapterOf(context, scope).exists(pointer);
  const approach = await gate.approach(owner, entry.address);
  // Before anybody can see the entry, or commit it.
  if (approach.idle === undefined && !(await isThere())) throw dataGone();
  await stage();
  if (!(await gate.wasCollected(owner, entry.address, approach)) || (await isThere())) return;
  await unstage(context, place, entry);
  throw dataGone();
}

function dataGone(): EngineError {
  return new EngineError('data_gone', 'No data', { subject: 'object' });
}

/** Before an import looks at what other repositories own: from here on they keep it. */
export async function usingForeign(
  context: EngineContext,
  scope: RepositoryScope,
  foreign: { readonly uri: string; readonly owners: readonly string[] },
): Promise<void> {
  await registerForeign(context, scope, foreign.uri);
  for (const id of foreign.owners) {
    const owner = await findOwner(context, scope, id, foreign.uri);
    if (owner !== undefined) await context.gate.approach(owner, foreign.uri);
  }
}

/** The repository, living or in the trash, in whose namespace something lies, or which lies below it. */
async function findOwner(
  context: EngineContext,
  scope: RepositoryScope,
  id: string,
  canonical: string,
): Promise<RepositoryScope | undefined> {
  const stored = await context.repositories.read(id);
  const adapter = adapterOf(context, scope);
  const isMeant = async ({ storageNamespace }: RepositoryData): Promise<boolean> => {
    const namespace = await context.namespaces.canonicalNamespace(adapter, storageNamespace);
    return liesInside(canonical, namespace) || `${namespace}/`.startsWith(canonical);
  };
  if (stored !== undefined && (await isMeant(stored.data))) return context.repositories.scopeOf(stored.data);
  for await (const { repository } of listTrash(context, id)) {
    if (repository.id === id && (await isMeant(repository))) return context.repositories.scopeOf(repository);
  }
  return undefined;
}

/** Takes back the very value that was staged. */
async function unstage(context: EngineContext, place: StagedKey, entry: Entry): Promise<void> {
  const head = await context.branches.find(place.scope, place.branch);
  const [token] = head?.tokens ?? [];
  if (token === undefined) return;
  const found = await context.kv.get(token, place.key);
  if (found === undefined || !decodeStagedEntry(found.value).data.equals(encodeEntry(entry))) return;
  await context.kv.deleteIf(token, place.key, found.predicate);
}
