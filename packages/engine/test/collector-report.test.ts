import { afterEach, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import type { GcReport, GcRunRequest } from '../src/face/gc-runs.ts';
import { noDays } from './external-collector.ts';
import { actor, commit, newRepository, put } from './fixture.ts';
import { GcWorld, hour } from './gc-world.ts';

const worlds: GcWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

interface Place {
  readonly world: GcWorld;
  readonly engine: Engine;
  readonly repository: string;
}

async function open(): Promise<Place> {
  const world = new GcWorld();
  worlds.push(world);
  const engine = await world.engine();
  return { world, engine, repository: await newRepository(engine) };
}

async function lookAt(
  { world, engine, repository }: Place,
  options: Partial<GcRunRequest> = {},
): Promise<{ run: string; report: GcReport }> {
  const run = await engine.gcRuns.start({ repository, user: 'tester', dryRun: true, ...options });
  await world.collect(engine);
  const { error, report } = await engine.gcRuns.get({ repository, run });
  if (report === undefined) throw new Error(error);
  return { run, report };
}

const rootsOf = ({ roots = [] }: GcReport) =>
  Object.fromEntries(
    roots.map(({ root, branch, commits, objects, bytes, onlyObjects, onlyBytes }) => [
      branch ?? root,
      [commits, objects, bytes, onlyObjects, onlyBytes],
    ]),
  );

it('tells what each branch keeps, and what nothing else keeps', async () => {
  const place = await open();
  const { world, engine, repository } = place;
  await put(engine, repository, 'main', 'a', 'abc');
  await commit(engine, repository, 'main');
  await engine.branches.create({ repository, name: 'dev', source: 'main', actor });
  await put(engine, repository, 'dev', 'b', 'large object');
  await commit(engine, repository, 'dev');
  world.now += 28 * hour;
  const { report } = await lookAt(place);
  // Without rules a branch keeps its whole history. The range of the first object is in both trees.
  expect(rootsOf(report)).toEqual({ dev: [3, 2, 15, 1, 12], main: [2, 1, 3, 0, 0] });
  expect(report.roots?.map(({ branch }) => branch)).toEqual(['dev', 'main']);
  const tried = await lookAt(place, { rules: noDays });
  expect(rootsOf(tried.report)).toEqual({ dev: [1, 2, 15, 1, 12], main: [1, 1, 3, 0, 0] });
  // What was learned of ranges is kept between runs.
  expect(rootsOf((await lookAt(place)).report)).toEqual(rootsOf(report));
});

it('tells what tags, moves, aliases and rescued commits keep', async () => {
  const place = await open();
  const { world, engine, repository } = place;
  const ids: string[] = [];
  for (const body of ['1', '22', '333', '4444', '55555']) {
    await put(engine, repository, 'main', 'a', body);
    ids.push(await commit(engine, repository, 'main'));
  }
  const [tagged = '', bound = '', kept = '', back = ''] = ids;
  await engine.tags.create({ repository, id: 'v1', ref: tagged, actor });
  await engine.tags.create({ repository, id: 'v2', ref: tagged, actor });
  await engine.bindings.createAlias({ name: 'shown', target: { repository, ref: bound, pin: true }, actor });
  await engine.gcRuns.rescue({ repository, user: 'tester', ref: kept });
  await engine.branches.hardReset({ repository, branch: 'main', ref: back, actor });
  world.now += 28 * hour;
  const { report } = await lookAt(place, { rules: noDays });
  expect(rootsOf(report)).toEqual({
    main: [1, 1, 4, 1, 4],
    tags: [1, 1, 1, 1, 1],
    bindings: [1, 1, 2, 1, 2],
    keeps: [1, 1, 3, 1, 3],
    reflog: [1, 1, 5, 1, 5],
  });
});

it('counts nothing for one that another commit keeps as well, named or not', async () => {
  const place = await open();
  const { world, engine, repository } = place;
  await put(engine, repository, 'main', 'a', 'abc');
  const id = await commit(engine, repository, 'main');
  await engine.tags.create({ repository, id: 'v1', ref: id, actor });
  world.now += 28 * hour;
  const { report } = await lookAt(place, { rules: noDays });
  expect(rootsOf(report)).toEqual({ main: [1, 1, 3, 0, 0], tags: [1, 1, 3, 0, 0] });
});

it('writes its report as answers spell it', async () => {
  const place = await open();
  const { world, engine, repository } = place;
  const { report } = await lookAt(place);
  const { storageNamespace } = await engine.repositories.get(repository);
  const identifier = report.location.slice(storageNamespace.length + 1);
  const { bytes } = await world.adapter.get({ storageNamespace, identifier, identifierType: 'relative' });
  const summary = JSON.parse(String(bytes)) as { num_deleted_objects: number; report: GcReport };
  expect(summary.num_deleted_objects).toBe(0);
  expect(summary.report).toMatchObject({
    dry_run: true,
    store_deletion: 'final',
    held: [],
    roots: [{ root: 'branch', branch_id: 'main', only_objects: 0, only_bytes: 0 }, { root: 'reflog' }],
  });
});

it('leaves what keeps data out of lists of runs, and tells the rest when its file is gone', async () => {
  const place = await open();
  const { world, engine, repository } = place;
  const { run, report } = await lookAt(place);
  expect(report.roots).not.toEqual([]);
  const [listed] = (await engine.gcRuns.list({ repository })).items;
  expect(listed?.report?.roots).toBeUndefined();
  const { storageNamespace } = await engine.repositories.get(repository);
  const identifier = report.location.slice(storageNamespace.length + 1);
  await world.adapter.delete({ storageNamespace, identifier, identifierType: 'relative' });
  const later = await engine.gcRuns.get({ repository, run });
  expect(later.report?.roots).toBeUndefined();
  expect(later.report?.classes).toEqual(report.classes);
});
