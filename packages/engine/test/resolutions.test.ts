import { expect, test } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { EngineError } from '../src/errors.ts';
import type { Conflict, MergeOptions, Resolution } from '../src/face/merges.ts';
import { actor, contents, createWorld, newRepository, put, refusal, refusalKind } from './fixture.ts';

async function reason(work: Promise<unknown>): Promise<string> {
  return (await refusal(work)).message;
}

interface Meeting {
  readonly engine: Engine;
  readonly repository: string;
  readonly expectedSource: string;
  readonly expectedDestination: string;
}

const sides = {
  base: { both: 'b', dropped: 'b', gone: 'b', calm: 'b', ours: 'b' },
  source: { both: 's', added: 's', gone: 's', calm: 's', ours: 'b' },
  destination: { both: 'd', added: 'd', dropped: 'd', calm: 'b', ours: 'd' },
};

async function meet(): Promise<Meeting> {
  const engine = createWorld().engine();
  const repository = await newRepository(engine);
  await write(engine, repository, 'main', sides.base);
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  const { id: expectedDestination } = await write(engine, repository, 'main', sides.destination);
  const { id: expectedSource } = await write(engine, repository, 'dev', sides.source);
  return { engine, repository, expectedSource, expectedDestination };
}

async function write(engine: Engine, repository: string, branch: string, wanted: Record<string, string>) {
  const now = await contents(engine, repository, branch);
  for (const path of Object.keys(now))
    if (!(path in wanted)) await engine.objects.delete({ repository, branch, path });
  for (const [path, content] of Object.entries(wanted))
    if (now[path] !== content) await put(engine, repository, branch, path, content);
  return engine.commits.create({ repository, branch, message: 'm', actor });
}

function merge({ engine, ...rest }: Meeting, more: Partial<MergeOptions>) {
  return engine.merges.merge({ source: 'dev', destination: 'main', actor, ...rest, ...more });
}

async function conflictsOf({ engine, repository }: Meeting): Promise<readonly Conflict[]> {
  return (await engine.merges.conflicts({ repository, source: 'dev', destination: 'main' })).items;
}

async function byConflict(
  meeting: Meeting,
  takes: Record<string, Resolution['take']>,
): Promise<Resolution[]> {
  const conflicts = await conflictsOf(meeting);
  return Object.entries(takes).map(([path, take]) => ({
    path,
    take,
    conflictId: conflicts.find((each) => each.path === path)?.conflictId,
  }));
}

async function factsOf(work: Promise<unknown>) {
  try {
    await work;
  } catch (error) {
    if (error instanceof EngineError) return error.facts;
    throw error;
  }
  throw new Error('it was not refused');
}

test('what is in conflict is listed with its three versions', async () => {
  const meeting = await meet();
  const { engine, repository } = meeting;
  const between = { repository, source: 'dev', destination: 'main' };
  const page = await engine.merges.conflicts(between);
  const sizes = ({ path, kind, base, source, destination }: Conflict) => [
    path,
    kind,
    ...[base, source, destination].map((entry) => entry?.etag !== undefined),
  ];
  expect(page.items.map(sizes)).toEqual([
    ['added', 'both_added', false, true, true],
    ['both', 'both_changed', true, true, true],
    ['dropped', 'source_removed', true, false, true],
    ['gone', 'destination_removed', true, true, false],
  ]);
  expect(page).toMatchObject({
    hasMore: false,
    sourceCommitId: meeting.expectedSource,
    destinationCommitId: meeting.expectedDestination,
  });

  const first = await engine.merges.conflicts({ ...between, amount: 3 });
  expect(first).toMatchObject({ hasMore: true, items: { length: 3 } });
  const rest = await engine.merges.conflicts({ ...between, amount: 3, after: first.nextOffset });
  expect(rest.items.map(({ path }) => path)).toEqual(['gone']);
  expect((await engine.merges.conflicts({ ...between, prefix: 'dr' })).items).toHaveLength(1);
  const streamed: string[] = [];
  for await (const { path } of await engine.merges.everyConflict(between)) streamed.push(path);
  expect(streamed).toEqual(['added', 'both', 'dropped', 'gone']);
  expect((await engine.merges.conflicts({ ...between, source: 'main' })).items).toEqual([]);
});

test('takes by path, prefix and glob make one commit that says what was taken', async () => {
  const meeting = await meet();
  const { engine, repository } = meeting;
  const entry = await engine.objects.uploadScratch({
    repository,
    branch: 'main',
    path: 'both',
    body: Buffer.from('mine'),
    contentType: 'text/plain',
  });
  expect(await engine.refs.diffUncommitted({ repository, branch: 'main' })).toMatchObject({ items: [] });
  const resolutions: Resolution[] = [
    { glob: 'g?ne', take: 'delete' },
    { path: 'added', take: 'destination' },
    { prefix: 'drop', take: 'base' },
    {
      path: 'both',
      take: 'object',
      object: { physicalAddress: entry.physicalAddress, checksum: entry.etag, size: entry.size },
    },
    { glob: '**', take: 'fail' },
  ];
  const preview = await engine.merges.preview({
    ...meeting,
    source: 'dev',
    destination: 'main',
    resolutions,
  });
  expect(preview).toMatchObject({
    outcome: 'clean',
    changed: { objects: 1, bytes: 1 },
    conflicts: { total: 4, unresolved: 0, destination: 1, base: 1, delete: 1, object: 1 },
  });
  const commit = await merge(meeting, { resolutions });
  expect(await contents(engine, repository, 'main')).toEqual({
    added: 'd',
    both: 'mine',
    calm: 's',
    dropped: 'b',
    ours: 'd',
  });
  expect(commit.metadata['.svc.merge.resolved']).toBe('destination=1,base=1,delete=1,object=1');
  expect(commit.metadata['.svc.merge.source']).toBe(meeting.expectedSource);
  const resolved = await engine.merges.resolvedBy({ repository, commit: commit.id });
  expect(resolved.items.map(({ path, taken }) => [path, taken])).toEqual([
    ['added', 'destination'],
    ['both', 'object'],
    ['dropped', 'base'],
    // The destination had removed it, too.
    ['gone', 'destination'],
  ]);
  const log = async (path: string) =>
    (await engine.commits.log({ repository, ref: 'main', objects: [path], amount: 1 })).items[0]?.id;
  expect(await log('both')).toBe(commit.id);
  expect(await log('added')).not.toBe(commit.id);
  expect(await refusalKind(merge(meeting, { resolutions }))).toBe('precondition_failed');
});

test('what no resolution settles stops the merge, and is named', async () => {
  const meeting = await meet();
  const { engine, repository } = meeting;
  const resolutions: Resolution[] = [
    { path: 'both', take: 'source' },
    { prefix: 'd', take: 'destination' },
  ];
  const facts = await factsOf(merge(meeting, { resolutions }));
  expect(facts?.conflicts).toMatchObject({
    unresolved: 2,
    hasMore: false,
    results: [{ path: 'added' }, { path: 'gone' }],
  });
  expect(
    await factsOf(merge({ ...meeting, expectedSource: undefined!, expectedDestination: undefined! }, {})),
  ).toEqual({ conflictAt: 'added' });
  expect((await engine.branches.get({ repository, branch: 'main' })).commitId).toBe(
    meeting.expectedDestination,
  );
  const locked = merge(meeting, { strategy: 'source-wins', resolutions: [{ glob: '*', take: 'fail' }] });
  expect(await refusalKind(locked)).toBe('conflict');
});

test('pins hold the merge to what its author saw', async () => {
  const meeting = await meet();
  const { engine, repository } = meeting;
  const everything: Resolution[] = [{ prefix: '', take: 'source' }];
  await put(engine, repository, 'dev', 'later', 'x');
  const { id } = await engine.commits.create({ repository, branch: 'dev', message: 'm', actor });
  const { expectedSource, expectedDestination } = meeting;
  expect(await factsOf(merge(meeting, { resolutions: everything }))).toEqual({
    moved: { source: { expected: expectedSource, actual: id } },
  });
  expect(
    await factsOf(merge(meeting, { expectedSource: id, expectedDestination: id, resolutions: everything })),
  ).toEqual({ moved: { destination: { expected: id, actual: expectedDestination } } });
  await merge(meeting, { expectedSource: id, resolutions: everything });
});

test('conflict ids survive other changes, and notice those of their path', async () => {
  const meeting = await meet();
  const { engine, repository } = meeting;
  const takes = { added: 'source', both: 'source', dropped: 'destination', gone: 'base' } as const;
  const resolutions = await byConflict(meeting, takes);
  const unpinned = { expectedSource: undefined, expectedDestination: undefined, resolutions };
  await put(engine, repository, 'main', 'unrelated', 'x');
  await put(engine, repository, 'main', 'both', 'again');
  await engine.commits.create({ repository, branch: 'main', message: 'm', actor });
  expect(await factsOf(merge(meeting, unpinned))).toEqual({ moved: { paths: ['both'] } });
  await put(engine, repository, 'main', 'both', 'd');
  await engine.commits.create({ repository, branch: 'main', message: 'm', actor });
  await merge(meeting, unpinned);
  expect(await contents(engine, repository, 'main')).toMatchObject({
    added: 's',
    both: 's',
    dropped: 'd',
    gone: 'b',
    unrelated: 'x',
  });
});

test('the sides of a conflict may agree by now', async () => {
  const meeting = await meet();
  const { engine, repository } = meeting;
  const resolutions = await byConflict(meeting, { both: 'source' });
  await put(engine, repository, 'main', 'both', 's');
  await engine.commits.create({ repository, branch: 'main', message: 'm', actor });
  const unpinned = { expectedSource: undefined, expectedDestination: undefined, resolutions };
  expect(await factsOf(merge(meeting, unpinned))).toEqual({ moved: { paths: ['both'] } });
});

test.each<[string, readonly Resolution[], RegExp]>([
  [
    'no conflict there',
    [
      { path: 'calm', take: 'source' },
      { path: 'no', take: 'base' },
    ],
    /"calm" and 1 more/,
  ],
  ['two selectors', [{ path: 'both', glob: '*', take: 'source' }], /resolutions\[0\].*exactly one/],
  ['no selector', [{ take: 'source' }], /resolutions\[0\].*exactly one/],
  [
    'a path twice',
    [
      { path: 'both', take: 'base' },
      { path: 'both', take: 'base' },
    ],
    /resolutions\[1\]/,
  ],
  ['fail of a path', [{ path: 'both', take: 'fail' }], /needs a prefix or a glob/],
  ['an object without data', [{ path: 'both', take: 'object' }], /need each other/],
  ['an id with a glob', [{ glob: '*', take: 'base', conflictId: 'a' }], /conflict_id needs a path/],
  ['a malformed id', [{ path: 'both', take: 'base', conflictId: 'a' }], /32 hexadecimal/],
  [
    'a malformed glob',
    [
      { prefix: '', take: 'base' },
      { glob: 'a[', take: 'base' },
    ],
    /resolutions\[1\].*position 2/,
  ],
  ['a long glob', [{ glob: 'a'.repeat(1025), take: 'base' }], /longer than 1024 bytes/],
  ['an empty path', [{ path: '', take: 'base' }], /resolutions\[0\]/],
  ['many patterns', Array.from({ length: 1001 }, () => ({ prefix: 'a', take: 'base' as const })), /1000/],
  ['many', Array.from({ length: 20_001 }, (_, i) => ({ path: `${i}`, take: 'base' as const })), /20000/],
])('refused: %s', async (_name, resolutions, message) => {
  const meeting = await meet();
  expect(await reason(merge(meeting, { resolutions }))).toMatch(message);
  expect(await refusalKind(merge(meeting, { resolutions }))).toBe('invalid');
});

test('resolutions need pins, or the id of every conflict', async () => {
  const meeting = await meet();
  const [named] = await byConflict(meeting, { both: 'source' });
  const unpinned = { ...meeting, expectedSource: undefined! };
  for (const resolutions of [[{ prefix: '', take: 'source' }], [named!, { path: 'added', take: 'base' }]]) {
    expect(await reason(merge(unpinned, { resolutions: resolutions as Resolution[] }))).toMatch(
      /expected_source and expected_destination/,
    );
  }
});

test('data of a resolution must be made for its branch and path', async () => {
  const meeting = await meet();
  const { engine, repository } = meeting;
  const upload = async (branch: string, path: string) => {
    const made = await engine.objects.uploadScratch({ repository, branch, path, body: Buffer.from('x') });
    return { physicalAddress: made.physicalAddress, checksum: made.etag, size: made.size };
  };
  const good = await upload('main', 'both');
  for (const object of [
    await upload('main', 'added'),
    await upload('dev', 'both'),
    { ...good, physicalAddress: good.physicalAddress.slice(0, -1) },
    { ...good, physicalAddress: 'mem://elsewhere/x' },
    { ...good, size: 2 },
    { ...good, checksum: '' },
  ]) {
    expect(
      await refusalKind(merge(meeting, { resolutions: [{ path: 'both', take: 'object', object }] })),
    ).toBe('invalid');
  }
});

test('a merge writes what its resolutions need beside them, and replaces nothing with it', async () => {
  const meeting = await meet();
  const { engine, repository } = meeting;
  const upload = async (path: string) => {
    const made = await engine.objects.uploadScratch({
      repository,
      branch: 'main',
      path,
      body: Buffer.from(path),
    });
    const object = { physicalAddress: made.physicalAddress, checksum: made.etag, size: made.size };
    return { path, object };
  };
  const both = await upload('both');
  const resolutions: Resolution[] = [
    { ...both, take: 'object' },
    { prefix: '', take: 'source' },
  ];
  const [beside, before] = [await upload('z/beside'), await upload('a/before')];
  expect(await refusalKind(merge(meeting, { resolutions, additions: [await upload('added')] }))).toBe(
    'invalid',
  );
  expect(
    await refusalKind(merge(meeting, { resolutions, additions: [{ ...beside, path: 'elsewhere' }] })),
  ).toBe('invalid');
  const commit = await merge(meeting, { resolutions, additions: [beside, before] });
  for (const path of ['both', 'z/beside', 'a/before']) {
    const { body } = await engine.objects.open({ repository, ref: commit.id, path });
    expect(body.size).toBe(path.length);
    body.dispose();
  }
  const log = await engine.commits.log({ repository, ref: 'main', objects: ['z/beside'] });
  expect(log.items.map(({ id }) => id)).toEqual([commit.id]);
});

test('cherry-pick and revert are settled the same way', async () => {
  const meeting = await meet();
  const { engine, repository, expectedSource, expectedDestination } = meeting;
  const pick = { repository, branch: 'main', ref: expectedSource };
  const listed = await engine.merges.cherryPickConflicts(pick);
  expect(listed.items.map(({ path }) => path)).toEqual(['added', 'both', 'dropped', 'gone']);
  const resolutions: Resolution[] = [{ prefix: '', take: 'source' }];
  expect(
    await reason(engine.commits.cherryPick({ ...pick, ref: 'dev', expectedDestination, resolutions, actor })),
  ).toMatch(/ref/);
  expect(
    await refusalKind(
      engine.commits.cherryPick({ ...pick, expectedDestination: expectedSource, resolutions, actor }),
    ),
  ).toBe('precondition_failed');
  const picked = await engine.commits.cherryPick({ ...pick, expectedDestination, resolutions, actor });
  expect(picked.metadata['.svc.merge.resolved']).toBe('source=4');
  expect(await contents(engine, repository, 'main')).toMatchObject({ both: 's', gone: 's', calm: 's' });

  await put(engine, repository, 'main', 'both', 'later');
  const { id } = await engine.commits.create({ repository, branch: 'main', message: 'm', actor });
  const undo = { repository, branch: 'main', ref: picked.id };
  const toRevert = await engine.merges.revertConflicts(undo);
  expect(toRevert.items.map(({ path, kind }) => [path, kind])).toEqual([['both', 'both_changed']]);
  const reverted = await engine.commits.revert({
    ...undo,
    expectedDestination: id,
    resolutions: [{ path: 'both', take: 'destination' }],
    actor,
  });
  expect(await contents(engine, repository, 'main')).toEqual({ ...sides.destination, both: 'later' });
  const again = await engine.commits.cherryPick({
    ...pick,
    branch: 'dev',
    ref: reverted.id,
    strategy: 'dest-wins',
    actor,
  });
  expect(Object.keys(again.metadata).filter((key) => key.startsWith('.svc.'))).toEqual([]);
});

test('what the engine notes in metadata, nobody else may write', async () => {
  const { engine, repository, ...rest } = await meet();
  const metadata = { '.svc.merge.resolved': 'source=1' };
  await put(engine, repository, 'main', 'x', 'x');
  for (const work of [
    () => engine.commits.create({ repository, branch: 'main', message: 'm', metadata, actor }),
    () => merge({ engine, repository, ...rest }, { metadata }),
  ]) {
    expect(await reason(work())).toMatch(/reserved/);
  }
});
