import { decodeStagedEntry, encodeEntry, type Entry } from '@svc/encoding';
import { adapterOf, type EngineContext } from '../context/engine-context.ts';
import { EngineError } from '../errors.ts';
import type { BroughtAddress } from '../objects/given-address.ts';
import { pointerOf } from '../objects/object-entry.ts';
import type { StagedKey } from '../staging/write.ts';
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
  const owner = isOwn ? scope : await findOwner(context, brought.repository);
  if (!isOwn) await registerForeign(context, scope, brought.canonical);
  await stage();
  if (owner === undefined || !(await context.gate.address(owner, entry.address))) return;
  const pointer = pointerOf(scope.repository.storageNamespace, entry);
  if (await adapterOf(context, scope).exists(pointer)) return;
  await unstage(context, place, entry);
  throw new EngineError('data_gone', 'No data', { subject: 'object' });
}

/** Before an import looks at what other repositories own: from here on they keep it. */
export async function usingForeign(
  context: EngineContext,
  scope: RepositoryScope,
  foreign: { readonly uri: string; readonly owners: readonly string[] },
): Promise<void> {
  await registerForeign(context, scope, foreign.uri);
  for (const id of foreign.owners) {
    const owner = await findOwner(context, id);
    if (owner !== undefined) await context.gate.address(owner, foreign.uri);
  }
}

/** A deleted repository is not collected. */
async function findOwner(context: EngineContext, id: string): Promise<RepositoryScope | undefined> {
  const stored = await context.repositories.read(id);
  return stored === undefined ? undefined : context.repositories.scopeOf(stored.data);
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
