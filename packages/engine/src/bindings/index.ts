import { moveKinds, timestampFromMillis, type BindingData, type MoveData } from '@svc/encoding';
import { maxTries } from '../context/back-off.ts';
import type { EngineContext } from '../context/engine-context.ts';
import { collectPage, pageSize } from '../context/page.ts';
import { invalid, notFound, tooManyAttempts } from '../context/refusals.ts';
import { EngineError } from '../errors.ts';
import type { Binding, BindingMove, Bindings, BoundPlace, ListAliasesOptions } from '../face/bindings.ts';
import type { Page } from '../face/model.ts';
import { moveIdText, moveTime, parseMoveId } from '../moves/move-id.ts';
import {
  listAliasRecords,
  moveBinding,
  readBinding,
  readBindingMove,
  readStored,
  type BindingSlot,
  type StoredBinding,
} from './binding-store.ts';
import { bindingOf, toBinding } from './bound-target.ts';
import { findBucket, findBucketAtOnce, findBucketOfKey } from './find-bucket.ts';
import { removeUnusedViews } from './unused-views.ts';

const namePattern = /^[a-z0-9][a-z0-9-]{2,62}$/;

export function bindings(context: EngineContext): Bindings {
  return {
    findBucket: (bucket) => findBucket(context, bucket),
    findBucketAtOnce: (bucket) => findBucketAtOnce(context, bucket),
    findBucketOfKey: ({ accessKeyId, bucket }) => findBucketOfKey(context, accessKeyId, bucket),
    listAliases: (options) => listAliases(context, options),
    getAlias: async (name) => toBinding(context, (await stored(context, aliasOf(name))).data),
    createAlias: (options) => createAlias(context, options),
    setAlias: (options) => setAlias(context, options),
    rollbackAlias: (options) => rollbackAlias(context, options),
    deleteAlias: async ({ name, actor }) => {
      const slot = aliasOf(name);
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const before = await stored(context, slot);
        if (await moveBinding(context, slot, { kind: 'delete', before, after: undefined, actor })) return;
      }
      throw tooManyAttempts();
    },
    aliasLog: (options) => aliasLog(context, options),
    getView: async (id) => {
      const data = await readBinding(context, { type: 'view', id });
      return data === undefined ? undefined : toBinding(context, data);
    },
    setView: async ({ accessKeyId, bucket, target, actor }) => {
      const slot: BindingSlot = { type: 'view', id: accessKeyId };
      const name = bucket ?? target.repository;
      checkName(name, 'bucket');
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const before = await readStored(context, slot);
        const after = await bindingOf(context, name, target, actor, before?.data);
        const kind = before === undefined ? 'create' : 'set';
        if (await moveBinding(context, slot, { kind, before, after, actor }))
          return toBinding(context, after);
      }
      throw tooManyAttempts();
    },
    deleteView: async ({ accessKeyId, actor }) => {
      const slot: BindingSlot = { type: 'view', id: accessKeyId };
      for (let attempt = 0; attempt < maxTries; attempt += 1) {
        const before = await readStored(context, slot);
        if (before === undefined) return;
        if (await moveBinding(context, slot, { kind: 'delete', before, after: undefined, actor })) return;
      }
      throw tooManyAttempts();
    },
    removeUnusedViews: (options) => removeUnusedViews(context, options),
  };
}

function aliasOf(name: string): BindingSlot {
  return { type: 'alias', id: name };
}

function checkName(name: string, field: string): void {
  if (!namePattern.test(name)) {
    throw invalid(`${field}: expected 3 to 63 of a-z, 0-9 and -, beginning with a letter or digit`);
  }
}

async function stored(context: EngineContext, slot: BindingSlot): Promise<StoredBinding> {
  const found = await readStored(context, slot);
  if (found === undefined) throw notFound('alias', 'alias not found');
  return found;
}

async function listAliases(context: EngineContext, options: ListAliasesOptions): Promise<Page<Binding>> {
  const { prefix = '', after = '', repository, visible } = options;
  const shown = async function* (): AsyncGenerator<BindingData> {
    for await (const data of listAliasRecords(context, prefix, after)) {
      if (repository !== undefined && data.repository !== repository) continue;
      if (visible === undefined || visible(data.bucket, data.repository)) yield data;
    }
  };
  const page = await collectPage(shown(), options.amount, ({ bucket }) => bucket);
  return { ...page, items: await Promise.all(page.items.map((data) => toBinding(context, data))) };
}

/**
 * No name is an alias and a repository. Each of two racing creations writes its record, then looks for the other's and
 * takes itself back: both may fail, never both succeed.
 */
async function createAlias(
  context: EngineContext,
  { name, target, actor }: Parameters<Bindings['createAlias']>[0],
): Promise<Binding> {
  checkName(name, 'name');
  const slot = aliasOf(name);
  const after = await bindingOf(context, name, target, actor);
  if ((await context.repositories.read(name)) !== undefined) throw nameTaken(name, 'repository');
  if (!(await moveBinding(context, slot, { kind: 'create', before: undefined, after, actor }))) {
    throw nameTaken(name, 'alias');
  }
  if ((await context.repositories.read(name)) !== undefined) {
    const before = await readStored(context, slot);
    if (before !== undefined)
      await moveBinding(context, slot, { kind: 'delete', before, after: undefined, actor });
    throw nameTaken(name, 'repository');
  }
  return toBinding(context, after);
}

export function nameTaken(name: string, by: 'repository' | 'alias'): EngineError {
  return new EngineError(
    'already_exists',
    `${by === 'alias' ? 'an alias' : 'a repository'} '${name}' exists`,
    {
      subject: by,
    },
  );
}

async function setAlias(
  context: EngineContext,
  { name, target, actor, ifGeneration }: Parameters<Bindings['setAlias']>[0],
): Promise<{ before: Binding; after: Binding }> {
  const slot = aliasOf(name);
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const before = await stored(context, slot);
    if (ifGeneration !== undefined && before.data.generation !== ifGeneration) {
      throw new EngineError(
        'precondition_failed',
        `alias '${name}' is at generation ${before.data.generation}, not ${ifGeneration}: somebody moved it`,
        { subject: 'alias' },
      );
    }
    const was = await toBinding(context, before.data);
    const after = await bindingOf(context, name, target, actor, before.data);
    if (await moveBinding(context, slot, { kind: 'set', before, after, actor })) {
      return { before: was, after: await toBinding(context, after) };
    }
  }
  throw tooManyAttempts();
}

async function rollbackAlias(
  context: EngineContext,
  { name, moveId, actor }: Parameters<Bindings['rollbackAlias']>[0],
): Promise<Binding> {
  const slot = aliasOf(name);
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const before = await stored(context, slot);
    const id = moveId === undefined ? before.data.lastMove : moveIdOf(moveId);
    const move = await readBindingMove(context, id);
    const target = move?.refId === name ? move.oldBinding : undefined;
    if (target === undefined) throw notFound('alias', `no earlier binding of alias '${name}' is recorded`);
    const after: BindingData = {
      ...target,
      createdAt: before.data.createdAt,
      createdBy: before.data.createdBy,
      updatedAt: timestampFromMillis(context.clock()),
      updatedBy: actor.userId ?? actor.committer,
      generation: before.data.generation + 1,
    };
    if (await moveBinding(context, slot, { kind: 'rollback', before, after, actor }))
      return toBinding(context, after);
  }
  throw tooManyAttempts();
}

function moveIdOf(text: string): Buffer {
  const id = parseMoveId(text);
  if (id === undefined) throw invalid('move_id: expected the id of a move, as the log of the alias shows it');
  return id;
}

async function aliasLog(
  context: EngineContext,
  { name, after = '', amount }: Parameters<Bindings['aliasLog']>[0],
): Promise<Page<BindingMove>> {
  const size = pageSize(amount);
  const items: BindingMove[] = [];
  let id = (await stored(context, aliasOf(name))).data.lastMove;
  if (after !== '') id = (await readBindingMove(context, moveIdOf(after)))?.prev ?? Buffer.alloc(0);
  while (id.length > 0) {
    const move = await readBindingMove(context, id);
    if (move?.refId !== name) break;
    if (items.length === size) return { items, hasMore: true, nextOffset: items.at(-1)?.id ?? '' };
    items.push(toMove(id, move));
    id = move.prev;
  }
  return { items, hasMore: false, nextOffset: '' };
}

function toMove(id: Buffer, move: MoveData): BindingMove {
  return {
    id: moveIdText(id),
    time: timestampFromMillis(Math.floor(moveTime(id) / 1000)),
    kind: moveKinds[move.kind] ?? 'set',
    user: move.user,
    old: placeOf(move.oldBinding),
    new: placeOf(move.binding),
  };
}

function placeOf(data: BindingData | undefined): BoundPlace | undefined {
  if (data === undefined) return undefined;
  const { repository, ref, prefix } = data;
  return { repository, ref, prefix, commitId: data.commitId === '' ? undefined : data.commitId };
}
