import { BlockError, createMemAdapter, type BlockAdapter } from '@svc/block';
import { expect, test } from 'vitest';
import { actor, createWorld, refusal } from './fixture.ts';

const dummy = (namespace: string) =>
  ({ storageNamespace: namespace, identifier: '_svc/dummy', identifierType: 'relative' }) as const;

/** A store in memory whose calls a test may let fail. */
function failingStore(
  fails: (call: 'put' | 'get' | 'exists' | 'delete') => BlockError | undefined,
): BlockAdapter {
  const adapter = createMemAdapter();
  for (const name of ['put', 'get', 'exists', 'delete'] as const) {
    const call = adapter[name].bind(adapter) as (...given: unknown[]) => Promise<unknown>;
    const failing = async (...given: unknown[]): Promise<unknown> => {
      const error = fails(name);
      // What is lost is the answer: the store has done its part.
      if (error !== undefined && name === 'put') await call(...given);
      if (error !== undefined) throw error;
      return await call(...given);
    };
    Object.assign(adapter, { [name]: failing });
  }
  return adapter;
}

test('a store that cannot be reached refuses a creation for now, and keeps nothing of it', async () => {
  const away = new BlockError('unavailable', 'the store could not be reached: ECONNREFUSED');
  let down: readonly string[] = ['exists'];
  const adapter = failingStore((call) => (down.includes(call) ? away : undefined));
  const engine = createWorld(undefined, adapter).engine();
  const create = (kind: object = {}) =>
    engine.repositories.create({ name: 'later', storageNamespace: 'mem://b/later', actor, ...kind });
  for (const kind of [{}, { readOnly: true }]) {
    await expect(create(kind)).rejects.toMatchObject({
      name: 'BlockError',
      kind: 'unavailable',
      message:
        'failed to create repository: failed to access storage: the store could not be reached: ECONNREFUSED',
    });
  }
  // The mark is there, cannot be read back, and cannot be removed: the first error is told all the same. The next
  // creation knows it as nobody's.
  for (const gone of [
    ['get', 'delete'],
    ['put', 'get', 'delete'],
  ]) {
    down = gone;
    await expect(create()).rejects.toMatchObject({ kind: 'unavailable' });
    expect((await adapter.properties(dummy('mem://b/later'))).size).toBeGreaterThan(0);
  }
  down = [];
  await create();
  // One of somebody else stays his.
  await adapter.put(dummy('mem://b/taken'), Buffer.from('x'));
  const taken = { name: 'taken', storageNamespace: 'mem://b/taken', actor };
  await expect(engine.repositories.create(taken)).rejects.toThrow('already in use');
});

test('a store that refuses says why a repository cannot be created', async () => {
  for (const kind of ['forbidden', 'configuration', 'write_failed', 'not_found'] as const) {
    const adapter = failingStore((call) =>
      call === 'exists' ? new BlockError(kind, 'the store answered 403 InvalidAccessKeyId') : undefined,
    );
    const engine = createWorld(undefined, adapter).engine();
    const error = await refusal(
      engine.repositories.create({ name: 'refused', storageNamespace: 'mem://b/refused', actor }),
    );
    expect([error.kind, error.message]).toEqual([
      'invalid',
      'failed to create repository: failed to access storage: the store answered 403 InvalidAccessKeyId',
    ]);
  }
});

test('a mark whose answer was lost is ours all the same', async () => {
  for (const kind of ['unavailable', 'already_exists'] as const) {
    let lost = 0;
    const adapter = failingStore((call) =>
      call === 'put' && lost++ === 0 ? new BlockError(kind, 'lost') : undefined,
    );
    const engine = createWorld(undefined, adapter).engine();
    await engine.repositories.create({ name: 'lost', storageNamespace: 'mem://b/lost', actor });
    expect(lost).toBe(2);
  }
});
