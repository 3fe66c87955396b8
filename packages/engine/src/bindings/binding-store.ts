import {
  bindingMessage,
  moveMessage,
  type BindingData,
  type MoveKind,
  type RepositoryData,
} from '@svc/encoding';
import type { KvPredicate } from '@svc/kv';
import { LRUCache } from 'lru-cache';
import type { EngineContext } from '../context/engine-context.ts';
import type { Actor, Commit } from '../face/model.ts';
import { shownBy } from './bound-commits.ts';
import { listTrash } from '../store/deleted-repositories.ts';
import { aliasesPrefix, gravelerPartition, viewsPrefix } from '../store/keys.ts';
import { moveKey } from '../store/keys.ts';
import type { RepositoryScope } from '../store/scope.ts';

/** The place of a binding: an alias by its name, a view by the access key it belongs to. */
export interface BindingSlot {
  readonly type: 'alias' | 'view';
  readonly id: string;
}

export interface StoredBinding {
  readonly data: BindingData;
  readonly predicate: KvPredicate;
}

export function bindingKey({ type, id }: BindingSlot): Buffer {
  return Buffer.concat([type === 'alias' ? aliasesPrefix : viewsPrefix, Buffer.from(id)]);
}

/** As it is now; never from memory. */
export async function readBinding(
  { kv }: EngineContext,
  slot: BindingSlot,
): Promise<BindingData | undefined> {
  if (kv.valueAtOnce !== undefined) return bindingAtOnce(kv, slot);
  const found = await kv.get(gravelerPartition, bindingKey(slot));
  return found === undefined ? undefined : bindingMessage.decode(found.value);
}

interface Decoded {
  readonly key: Buffer;
  readonly value: Buffer;
  readonly data: BindingData;
}

/** Spares decoding a record whose bytes are those of the last read. */
const lastDecoded = new LRUCache<string, Decoded>({ max: 1000 });

/** As `readBinding`; undefined also where the store cannot tell at once. */
export function bindingAtOnce(
  kv: Pick<EngineContext['kv'], 'valueAtOnce'>,
  slot: BindingSlot,
): BindingData | undefined {
  if (kv.valueAtOnce === undefined) return undefined;
  const name = `${slot.type}/${slot.id}`;
  const last = lastDecoded.get(name);
  const key = last?.key ?? bindingKey(slot);
  const value = kv.valueAtOnce(gravelerPartition, key);
  if (value === undefined) return undefined;
  if (last?.value.equals(value) === true) return last.data;
  const data = bindingMessage.decode(value);
  lastDecoded.set(name, { key, value: Buffer.from(value), data });
  return data;
}

export async function readStored(
  { kv }: EngineContext,
  slot: BindingSlot,
): Promise<StoredBinding | undefined> {
  const found = await kv.get(gravelerPartition, bindingKey(slot));
  return found === undefined
    ? undefined
    : { data: bindingMessage.decode(found.value), predicate: found.predicate };
}

/** Makes, moves or removes a binding together with the record of it; false when it changed since it was read. */
export async function moveBinding(
  context: EngineContext,
  slot: BindingSlot,
  move: {
    readonly kind: MoveKind;
    readonly before: StoredBinding | undefined;
    readonly after: BindingData | undefined;
    readonly actor: Actor;
  },
): Promise<boolean> {
  const { kind, before, after, actor } = move;
  const key = bindingKey(slot);
  const shown = after === undefined ? undefined : await findShown(context, after);
  const planned = await context.moves.planOfBinding({
    kind,
    type: slot.type,
    id: slot.id,
    actor,
    binding: after,
    oldBinding: before?.data,
  });
  const done = await context.kv.change(gravelerPartition, { key, condition: before?.predicate ?? 'absent' }, [
    after === undefined
      ? { type: 'delete', key }
      : { type: 'put', key, value: bindingMessage.encode({ ...after, lastMove: planned.id }) },
    ...planned.writes,
  ]);
  if (!done) return false;
  context.moves.remember(planned);
  if (after !== undefined && shown !== undefined) await keepShown(context, after, shown);
  return true;
}

interface Shown {
  readonly scope: RepositoryScope;
  /** Of a binding to one commit. */
  readonly commit: Commit | undefined;
}

/** Before the binding is written: what it names may be collected meanwhile, and is then stored again. */
async function findShown(context: EngineContext, data: BindingData): Promise<Shown | undefined> {
  const repository = await findInstance(context, data);
  if (repository === undefined) return undefined;
  const scope = context.repositories.scopeOf(repository);
  const commit = data.commitId === '' ? undefined : await context.commits.get(scope, data.commitId);
  return { scope, commit };
}

/** What the binding shows may be garbage that a collector is about to delete. */
async function keepShown(context: EngineContext, data: BindingData, { scope, commit }: Shown): Promise<void> {
  if (commit !== undefined) return context.gate.commitById(scope, commit);
  await context.gate.commitsById(scope, () => shownBy(context, scope, data));
}

/** One that is in the trash may come back, and its collection goes on as if it had never been there. */
async function findInstance(
  context: EngineContext,
  { repository, instanceUid }: BindingData,
): Promise<RepositoryData | undefined> {
  const living = async (): Promise<RepositoryData | undefined> => {
    const stored = await context.repositories.read(repository);
    return stored?.data.instanceUid === instanceUid ? stored.data : undefined;
  };
  const found = await living();
  if (found !== undefined) return found;
  for await (const { repository: deleted } of listTrash(context, repository)) {
    if (deleted.instanceUid === instanceUid) return deleted;
  }
  // It may have come back between the two looks.
  return living();
}

export async function* listAliasRecords(
  { kv }: EngineContext,
  prefix: string,
  after: string,
): AsyncGenerator<BindingData> {
  const start = Buffer.concat([aliasesPrefix, Buffer.from(prefix)]);
  const range = {
    prefix: start,
    ...(after === '' ? {} : { after: bindingKey({ type: 'alias', id: after }) }),
  };
  for await (const page of kv.scan(gravelerPartition, range)) {
    for (const { value } of page) yield bindingMessage.decode(value);
  }
}

export async function readBindingMove(
  { kv }: EngineContext,
  id: Buffer,
): Promise<ReturnType<typeof moveMessage.decode> | undefined> {
  const found = await kv.get(gravelerPartition, moveKey(id));
  return found === undefined ? undefined : moveMessage.decode(found.value);
}
