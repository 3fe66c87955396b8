import { Readable } from 'node:stream';
import type { BlockAdapter } from '@svc/block';
import { expect, test } from 'vitest';
import { watched } from './failing-store.ts';
import { actor, changes, commit, contents, createWorld, newRepository, refusal } from './fixture.ts';
import { pipelining, remote } from './remote-store.ts';

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

test.each(['bytes', 'stream'] as const)(
  '%s: where a write and a read are one round trip, a branch seen a moment ago is read only with the entry',
  async (form) => {
    const calls: string[] = [];
    const engine = createWorld().engine({
      wrapKv: (kv) => watched(pipelining(kv), ({ method, key }) => void calls.push(`${method} ${key}`)),
    });
    const repository = await newRepository(engine);
    const upload = (path: string): Promise<unknown> => {
      const content = Buffer.alloc(10);
      const body = form === 'bytes' ? content : { stream: Readable.from([content]), size: content.length };
      return engine.objects.upload({ repository, branch: 'main', path, body });
    };
    await upload('first');
    calls.length = 0;
    await upload('second');
    expect(calls).toEqual(['setThenGet second']);
    calls.length = 0;
    const entry = { physicalAddress: 'mem://bucket/elsewhere', checksum: 'c', size: 1 };
    await engine.objects.stage({ repository, branch: 'main', path: 'third', ...entry });
    expect(calls).toEqual(['setThenGet third']);
    calls.length = 0;
    await engine.objects.upload({
      repository,
      branch: 'main',
      path: 'first',
      body: Buffer.from('x'),
      ifMatch: '*',
    });
    expect(calls.slice(-2)).toEqual(['setIf first', 'get branches/main']);
    expect(await changes(engine, repository, 'main')).toEqual(['added first', 'added second', 'added third']);
  },
);

test('an upload that begins with a branch as it was is written to where the branch is', async () => {
  const world = createWorld();
  const engine = world.engine({ wrapKv: pipelining });
  const other = world.engine({ wrapKv: pipelining });
  const repository = await newRepository(engine);
  const upload = (path: string): Promise<unknown> =>
    engine.objects.upload({ repository, branch: 'main', path, body: Buffer.from(path) });
  await upload('before');
  const committed = await commit(other, repository, 'main');
  await upload('after');
  expect(await contents(engine, repository, committed)).toEqual({ before: 'before' });
  expect(await changes(other, repository, 'main')).toEqual(['added after']);
  await engine.branches.create({ repository, name: 'side', source: 'main', actor });
  await engine.objects.upload({ repository, branch: 'side', path: 'a', body: Buffer.from('a') });
  await other.branches.delete({ repository, branch: 'side', actor });
  const late = engine.objects.upload({ repository, branch: 'side', path: 'b', body: Buffer.from('b') });
  expect(await refusal(late)).toMatchObject({ kind: 'not_found', subject: 'branch' });
  await other.close();
});

test.each([remote, pipelining])(
  'a commit while small data is being stored does not lose the upload: %o',
  async (wrapKv) => {
    const inner = createWorld();
    let meanwhile: () => Promise<unknown> = async () => undefined;
    const world = createWorld(
      undefined,
      beforePut(inner.adapter, () => meanwhile()),
    );
    const engine = world.engine({ wrapKv });
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
  },
);
