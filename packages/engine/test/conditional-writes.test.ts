import { expect, test } from 'vitest';
import { commit, createWorld, newRepository, put, read, refusal, refusalKind } from './fixture.ts';

test('If-None-Match over staged, committed, deleted; If-Match on etags', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const create = (path: string) =>
    engine.objects.upload({ repository, branch: 'main', path, body: Buffer.from('n'), ifNoneMatch: '*' });
  await create('a');
  expect(await refusal(create('a'))).toMatchObject({
    kind: 'precondition_failed',
    message: 'path already exists',
  });
  await commit(engine, repository, 'main');
  expect(await refusalKind(create('a'))).toBe('precondition_failed');
  await engine.objects.delete({ repository, branch: 'main', path: 'a' });
  const { etag } = await create('a');
  const replace = (ifMatch: string, path = 'a', content = 'm') =>
    engine.objects.upload({ repository, branch: 'main', path, body: Buffer.from(content), ifMatch });
  expect(await refusalKind(replace('other'))).toBe('precondition_failed');
  expect(await refusal(replace(etag, 'missing'))).toMatchObject({ kind: 'not_found', subject: 'object' });
  await replace(etag);
  expect(await read(engine, repository, 'main', 'a')).toBe('m');
  await replace('*', 'a', 'star');
  expect(await read(engine, repository, 'main', 'a')).toBe('star');
});

test('a conditional write retried after a seal finds its own value and succeeds', async () => {
  const world = createWorld();
  const rival = world.engine();
  const repository = await newRepository(rival);
  let sealed = false;
  const engine = world.engine({
    wrapKv: (kv) =>
      new Proxy(kv, {
        get: (target, name) => {
          if (name !== 'setIf') return (Reflect.get(target, name) as () => unknown).bind(target);
          return async (...args: Parameters<typeof kv.setIf>) => {
            const stored = await target.setIf(...args);
            if (stored && !sealed && args[0].toString().includes(':')) {
              sealed = true;
              await put(rival, repository, 'main', 'other', '1');
              await commit(rival, repository, 'main');
            }
            return stored;
          };
        },
      }),
  });
  await engine.objects.upload({
    repository,
    branch: 'main',
    path: 'a',
    body: Buffer.from('mine'),
    ifNoneMatch: '*',
  });
  expect(await read(engine, repository, 'main', 'a')).toBe('mine');
});

test('of writers that replace one object, one succeeds, also while the branch is committed', async () => {
  const world = createWorld();
  const engines = [world.engine(), world.engine()];
  const [first] = engines;
  if (first === undefined) throw new Error('no engine');
  const repository = await newRepository(first);
  await put(first, repository, 'main', 'raced', 'start');
  let { etag } = await first.objects.stat({ repository, ref: 'main', path: 'raced' });
  for (let round = 0; round < 10; round += 1) {
    const replaced = Promise.allSettled(
      engines.flatMap((engine, index) =>
        [0, 1, 2, 3].map((writer) =>
          engine.objects.upload({
            repository,
            branch: 'main',
            path: 'raced',
            body: Buffer.from(`round ${round} writer ${index}-${writer}`),
            ifMatch: etag,
          }),
        ),
      ),
    );
    await put(first, repository, 'main', `other-${round}`, 'x');
    const [outcomes] = await Promise.all([
      replaced,
      // It may find nothing to commit, or lose every race: the writes are what counts.
      commit(first, repository, 'main').catch(() => undefined),
    ]);
    const written = outcomes.filter((outcome) => outcome.status === 'fulfilled');
    expect(written).toHaveLength(1);
    const kinds = outcomes.map((outcome) =>
      outcome.status === 'rejected' ? (outcome.reason as { kind: string }).kind : 'written',
    );
    expect(new Set([...kinds, 'precondition_failed', 'conflict', 'written']).size).toBe(3);
    etag = written[0]?.value.etag ?? '';
    expect((await first.objects.stat({ repository, ref: 'main', path: 'raced' })).etag).toBe(etag);
  }
});

test('If-None-Match finds an entry of the same address that another call has staged', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const place = { repository, branch: 'main', path: 'linked' };
  const { physicalAddress } = await engine.objects.getPhysicalAddress(place);
  const link = () =>
    engine.objects.link({ ...place, physicalAddress, checksum: 'c', size: 1, mtime: 7, ifNoneMatch: '*' });
  await link();
  expect(await refusalKind(link())).toBe('precondition_failed');
});
