import { Readable } from 'node:stream';
import type { BlockAdapter } from '@svc/block';
import { expect, test } from 'vitest';
import { watched } from './failing-store.ts';
import { changes, commit, contents, createWorld, newRepository } from './fixture.ts';
import { remote } from './remote-store.ts';

/** Runs something each time data is about to be stored. */
function beforePut(adapter: BlockAdapter, run: () => Promise<unknown>): BlockAdapter {
  return new Proxy(adapter, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      if (name !== 'put') return member.bind(target) as unknown;
      return async (...args: Parameters<BlockAdapter['put']>) => {
        await run();
        return target.put(...args);
      };
    },
  });
}

test.each([
  ['bytes', 2],
  ['stream', 3],
] as const)(
  '%s: the branch is read %i times, the last time after the entry was stored',
  async (form, reads) => {
    const world = createWorld();
    const calls: string[] = [];
    const engine = world.engine({
      wrapKv: (kv) => watched(remote(kv), ({ method, key }) => void calls.push(`${method} ${key}`)),
    });
    const repository = await newRepository(engine);
    const upload = (path: string): Promise<unknown> => {
      const content = Buffer.alloc(form === 'bytes' ? 10 : 1_100_000);
      const body = form === 'bytes' ? content : { stream: Readable.from([content]), size: content.length };
      return engine.objects.upload({ repository, branch: 'main', path, body });
    };
    await upload('first');
    calls.length = 0;
    await upload('second');
    expect(calls.filter((call) => call === 'get branches/main').length).toBe(reads);
    expect(calls.slice(-2)).toEqual(['set second', 'get branches/main']);
  },
);

test('a commit while small data is being stored does not lose the upload', async () => {
  const inner = createWorld();
  let meanwhile: () => Promise<unknown> = async () => undefined;
  const world = createWorld(
    undefined,
    beforePut(inner.adapter, () => meanwhile()),
  );
  const engine = world.engine({ wrapKv: remote });
  const repository = await newRepository(engine);
  const upload = (path: string): Promise<unknown> =>
    engine.objects.upload({ repository, branch: 'main', path, body: Buffer.from(path) });
  await upload('before');
  let committed = '';
  meanwhile = async () => {
    meanwhile = async () => undefined;
    committed = await commit(engine, repository, 'main');
  };
  await upload('during');
  expect(await contents(engine, repository, committed)).toEqual({ before: 'before' });
  expect(await changes(engine, repository, 'main')).toEqual(['added during']);
  await commit(engine, repository, 'main');
  expect(await contents(engine, repository, 'main@')).toEqual({ before: 'before', during: 'during' });
});
