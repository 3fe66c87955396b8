import { repositoryActive, type RepositoryData } from '@svc/encoding';
import type { KvPredicate } from '@svc/kv';
import type { UseValue } from '../../committed/tree.ts';
import { adapterOf, type EngineContext } from '../../context/engine-context.ts';
import { liesInside } from '../../repositories/namespaces.ts';
import { isRestorable } from '../../repositories/trash.ts';
import { listTrash } from '../../store/deleted-repositories.ts';
import type { RepositoryScope } from '../../store/scope.ts';
import { listForeign, nameOfUser, noteForeignKnown, registerForeign, useOf } from '../foreign.ts';
import { foreignKnownKey, gcPartition } from '../gc-keys.ts';
import { parseDataKey } from './data-key.ts';
import { readStagedAddresses } from '../staged-addresses.ts';
import { ValueAddress } from './value-address.ts';

/** More uses than this are not registered one by one: the repository is looked through again by the next run. */
const mostRegistered = 10_000;

/** What other repositories use of this one's data. */
export class Held {
  /** The name of a repository that uses it. */
  readonly #addresses = new Map<string, string>();
  readonly #prefixes = new Map<string, string>();

  add(address: string, repository: string): void {
    this.#addresses.set(address, repository);
  }

  addPrefix(prefix: string, repository: string): void {
    this.#prefixes.set(prefix, repository);
  }

  /** A repository that uses it. */
  by(address: string): string | undefined {
    const user = this.#addresses.get(address);
    if (user !== undefined) return user;
    for (const [prefix, repository] of this.#prefixes) if (address.startsWith(prefix)) return repository;
    return undefined;
  }

  has(address: string): boolean {
    return this.by(address) !== undefined;
  }
}

/** Reads the register; call it again before each batch. */
export async function readHeld(context: EngineContext, scope: RepositoryScope, held: Held): Promise<void> {
  const adapter = adapterOf(context, scope);
  const namespace = await context.namespaces.canonicalNamespace(adapter, scope.repository.storageNamespace);
  const own = scope.partition.toString();
  for await (const { user, uri } of listForeign(context)) {
    if (user === own) continue;
    if (liesInside(uri, namespace)) {
      const inside = uri.slice(namespace.length + 1);
      if (inside.endsWith('/')) held.addPrefix(inside, nameOfUser(user));
      else held.add(inside, nameOfUser(user));
    } else if (uri.endsWith('/') && `${namespace}/`.startsWith(uri)) held.addPrefix('', nameOfUser(user));
  }
}

/** Looks through repositories of which the register does not know everything; afterwards it does. */
export async function surveyOthers(
  context: EngineContext,
  scope: RepositoryScope,
  held: Held,
  pause: () => Promise<void>,
): Promise<void> {
  const { type } = adapterOf(context, scope);
  for await (const data of everyRepository(context)) {
    await pause();
    const other = context.repositories.scopeOf(data);
    if (other.partition.equals(scope.partition)) continue;
    if (context.blockStores.find(data.storageId)?.type !== type) continue;
    if ((await context.kv.get(other.partition, foreignKnownKey)) !== undefined) continue;
    await survey(context, scope, other, held, pause);
  }
}

/** Those in the trash, too, that can come back: what they use must be there then. */
async function* everyRepository(context: EngineContext): AsyncGenerator<RepositoryData> {
  yield* context.repositories.list('', '');
  for await (const stored of listTrash(context)) {
    if (isRestorable(context, stored)) yield stored.repository;
  }
}

async function survey(
  context: EngineContext,
  scope: RepositoryScope,
  other: RepositoryScope,
  held: Held,
  pause: () => Promise<void>,
): Promise<void> {
  await keepFound(context, scope, other, held, await fullAddresses(context, other, pause));
}

/** Data that a repository names in full. What is staged comes before commits: references only move that way. */
async function fullAddresses(
  context: EngineContext,
  scope: RepositoryScope,
  pause: () => Promise<void>,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for await (const { id } of context.branches.list(scope)) {
    const page = {
      add: ({ full }: { full?: string | undefined }) => {
        if (full !== undefined && mayBeData(full)) found.add(full);
        return Promise.resolve();
      },
      isOver: () => false,
      keys: 0,
    };
    await readStagedAddresses(context, scope, id, undefined, page);
  }
  const address = new ValueAddress();
  const done = new Set<string>();
  const look: UseValue = (bytes, start, end) => {
    address.read(bytes, start, end);
    const uri = bytes.toString('utf8', address.start, address.end);
    if (mayBeData(uri)) found.add(uri);
  };
  for await (const { metaRangeId } of context.commits.list(scope)) {
    if (metaRangeId === '' || done.has(metaRangeId)) continue;
    for (const { id } of await context.trees.ranges(scope.committed, metaRangeId)) {
      if (done.has(id)) continue;
      await context.trees.visitRange(scope.committed, id, look, pause);
      done.add(id);
    }
    done.add(metaRangeId);
  }
  return found;
}

/** Lets other repositories have back what this one registered before a time (milliseconds) and names no more. */
export async function releaseUnused(
  context: EngineContext,
  scope: RepositoryScope,
  before: number,
  pause: () => Promise<void>,
): Promise<void> {
  const { kv } = context;
  const old: { readonly uri: string; readonly key: Buffer; readonly predicate: KvPredicate }[] = [];
  for await (const { uri, key, at } of listForeign(context, scope.partition)) {
    const found = at < before ? await kv.get(gcPartition, key) : undefined;
    if (found !== undefined && useOf(found.value).at < before)
      old.push({ uri, key, predicate: found.predicate });
  }
  if (old.length === 0) return;
  const adapter = adapterOf(context, scope);
  const used = new Set<string>();
  for (const uri of await fullAddresses(context, scope, pause)) used.add(await adapter.canonicalUri(uri));
  for (const { uri, key, predicate } of old) {
    const isUsed = uri.endsWith('/') ? [...used].some((name) => name.startsWith(uri)) : used.has(uri);
    // Whoever registered it again meanwhile keeps it.
    if (!isUsed) await kv.deleteIf(gcPartition, key, predicate);
  }
}

/** Only names we made can be garbage anywhere. */
function mayBeData(address: string): boolean {
  return address.includes('://') && parseDataKey(address.split('/').slice(-3).join('/')) !== undefined;
}

async function keepFound(
  context: EngineContext,
  scope: RepositoryScope,
  other: RepositoryScope,
  held: Held,
  found: ReadonlySet<string>,
): Promise<void> {
  const adapter = adapterOf(context, scope);
  const namespace = await context.namespaces.canonicalNamespace(adapter, scope.repository.storageNamespace);
  const inRepositories: string[] = [];
  for (const uri of found) {
    const canonical = await adapter.canonicalUri(uri);
    if (liesInside(canonical, namespace))
      held.add(canonical.slice(namespace.length + 1), other.repository.id);
    const owner = await context.namespaces.ownerOf(adapter, canonical);
    if (owner !== undefined && owner !== other.repository.id) inRepositories.push(canonical);
  }
  if (inRepositories.length > mostRegistered || other.repository.state !== 'active') return;
  for (const uri of inRepositories) await registerForeign(context, other, uri);
  if (await isStillThere(context, other)) await noteForeignKnown(context, other);
}

async function isStillThere(context: EngineContext, { repository }: RepositoryScope): Promise<boolean> {
  const { id, instanceUid } = repository;
  const record = await context.repositories.read(id);
  if (record?.data.instanceUid === instanceUid) return record.data.state === repositoryActive;
  for await (const stored of listTrash(context, id)) {
    if (stored.repository.instanceUid === instanceUid) return isRestorable(context, stored);
  }
  return false;
}
