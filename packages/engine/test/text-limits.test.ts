import { commitId } from '@svc/encoding';
import { expect, test } from 'vitest';
import { actor, createWorld, newRepository, refusalKind } from './fixture.ts';

const long = 'x'.repeat(256 * 1024 + 1);

test('names that every object knows are patterns like any other', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const patterns = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];
  for (const pattern of patterns) await engine.protection.add({ repository, pattern });
  expect((await engine.protection.get(repository)).patterns).toEqual(patterns);
  await engine.branches.create({ repository, name: 'toString', source: 'main', actor });
  const write = engine.objects.upload({ repository, branch: 'toString', path: 'a', body: Buffer.from('x') });
  expect(await refusalKind(write)).toBe('protected');
  // Rules that were all removed are stored, too.
  await engine.protection.set({ repository, patterns: [] });
  await engine.protection.set({ repository, patterns });
  expect((await engine.protection.get(repository)).patterns).toEqual(patterns);
});

test('texts that are kept with a repository have an end', async () => {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  const refused = async (attempt: Promise<unknown>): Promise<void> =>
    expect(await refusalKind(attempt)).toBe('invalid');

  await refused(engine.tags.create({ repository, id: 'x'.repeat(1025), ref: 'main', actor }));
  await refused(engine.tags.create({ repository, id: 'é'.repeat(513), ref: 'main', actor }));
  await engine.tags.create({ repository, id: 'x'.repeat(1024), ref: 'main', actor });

  await refused(engine.repositories.setMetadata({ repository, metadata: { a: long } }));
  await refused(engine.repositories.setMetadata({ repository, metadata: { [long]: '' } }));
  const half = 'x'.repeat(200 * 1024);
  await engine.repositories.setMetadata({ repository, metadata: { a: half } });
  await refused(engine.repositories.setMetadata({ repository, metadata: { b: half } }));
  expect(Object.keys(await engine.repositories.getMetadata(repository))).toEqual(['a']);

  await refused(engine.protection.set({ repository, patterns: ['x'.repeat(1025)] }));
  await refused(engine.protection.add({ repository, pattern: `${'x'.repeat(1024)}*` }));
  const many = Array.from({ length: 300 }, (_, index) => `${index}-${'x'.repeat(1000)}`);
  await refused(engine.protection.set({ repository, patterns: many }));
  await engine.protection.set({ repository, patterns: many.slice(0, 261) });
  await refused(engine.protection.add({ repository, pattern: 'y'.repeat(1000) }));
  expect((await engine.protection.get(repository)).patterns).toHaveLength(261);

  await engine.protection.set({ repository, patterns: [] });
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  const branches = { repository, source: 'dev', destination: 'main', actor };
  await refused(engine.pulls.create({ ...branches, title: long }));
  await refused(engine.pulls.create({ ...branches, title: 't', description: long }));
  const { id } = await engine.pulls.create({ ...branches, title: 't' });
  await refused(engine.pulls.update({ repository, id, description: long }));

  const paths = [{ type: 'common_prefix' as const, path: 'mem://elsewhere/', destination: '' }];
  const imported = { repository, branch: 'main', actor };
  await refused(engine.imports.start({ ...imported, paths: [] }));
  await refused(
    engine.imports.start({
      repository,
      branch: 'main',
      paths,
      message: long,
      actor,
      mayReadRepository: () => Promise.resolve(true),
    }),
  );

  const fields = {
    committer: 'x',
    message: long,
    metaRangeId: '',
    parents: [],
    metadata: {},
    version: 1,
    generation: 1,
  };
  const record = {
    ...fields,
    id: commitId({ ...fields, creationDate: { seconds: 1, nanos: 0 } }),
    creationDate: 1,
  };
  await refused(engine.commits.createRecord({ repository, commit: record }));
});
