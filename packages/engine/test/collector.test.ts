import { eventMessage } from '@svc/encoding';
import { afterEach, describe, expect, it } from 'vitest';
import type { Engine } from '../src/engine.ts';
import type { GcReport, GcRunOptions } from '../src/face/gc-runs.ts';
import { noDays } from './external-collector.ts';
import { entryByEntry } from './failing-store.ts';
import { actor, commit, newRepository, put, read, refusal } from './fixture.ts';
import { day, GcWorld, hour } from './gc-world.ts';

const worlds: GcWorld[] = [];

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close();
});

async function open(): Promise<{ world: GcWorld; engine: Engine; repository: string; namespace: string }> {
  const world = new GcWorld();
  worlds.push(world);
  const engine = await world.engine();
  const repository = await newRepository(engine);
  const { storageNamespace } = await engine.repositories.get(repository);
  return { world, engine, repository, namespace: storageNamespace };
}

async function collect(
  { world, engine, repository }: { world: GcWorld; engine: Engine; repository: string },
  options: Partial<GcRunOptions> = {},
): Promise<GcReport> {
  const run = await engine.gcRuns.start({ repository, user: 'tester', ...options });
  await world.collect(engine);
  const { state, error, report } = await engine.gcRuns.get({ repository, run });
  if (report === undefined || state !== 'completed') throw new Error(`${state}: ${error ?? ''}`);
  return report;
}

const of = (report: GcReport, name: string) => {
  const row = report.classes.find((item) => item.class === name);
  if (row === undefined) throw new Error(`no class ${name}`);
  return row;
};

async function addressOf(engine: Engine, repository: string, ref: string, path: string): Promise<string> {
  return (await engine.objects.stat({ repository, ref, path })).address;
}

describe('the built-in collector', () => {
  it('condemns what was overwritten, deletes it after its window, and keeps what is read', async () => {
    const all = await open();
    const { world, engine, repository, namespace } = all;
    await put(engine, repository, 'main', 'a', 'old');
    const old = await addressOf(engine, repository, 'main', 'a');
    await put(engine, repository, 'main', 'a', 'new');
    world.now += 26 * hour;
    expect(of(await collect(all), 'uncommitted')).toMatchObject({
      condemned: { objects: 1, bytes: 3 },
      deleted: { objects: 0 },
    });
    expect(await world.exists(namespace, old)).toBe(true);
    world.now += 7 * day;
    expect(of(await collect(all), 'uncommitted').deleted).toEqual({ objects: 1, bytes: 3 });
    expect(await world.exists(namespace, old)).toBe(false);
    expect(await read(engine, repository, 'main', 'a')).toBe('new');
  });

  it('lets go of what is staged again before its time', async () => {
    const all = await open();
    const { world, engine, repository } = all;
    await put(engine, repository, 'main', 'a', 'old');
    const physicalAddress = (await engine.objects.stat({ repository, ref: 'main', path: 'a' }))
      .physicalAddress;
    await put(engine, repository, 'main', 'a', 'new');
    world.now += 26 * hour;
    await collect(all);
    const brought = { repository, branch: 'main', path: 'b', physicalAddress, checksum: 'x', size: 3 };
    await engine.objects.stage({ ...brought, mayReadRepository: () => true });
    world.now += 8 * day;
    expect(of(await collect(all), 'uncommitted')).toMatchObject({
      rescued: { objects: 1 },
      deleted: { objects: 0 },
    });
    expect(await read(engine, repository, 'main', 'b')).toBe('old');
  });

  it('expires what only old commits hold, unless a tag comes before its time', async () => {
    const all = await open();
    const { world, engine, repository, namespace } = all;
    await put(engine, repository, 'main', 'a', 'one');
    const first = await commit(engine, repository, 'main');
    await put(engine, repository, 'main', 'a', 'two');
    const second = await commit(engine, repository, 'main');
    await put(engine, repository, 'main', 'a', 'three');
    await commit(engine, repository, 'main');
    const [one, two] = [
      await addressOf(engine, repository, first, 'a'),
      await addressOf(engine, repository, second, 'a'),
    ];
    world.now += 28 * hour;
    expect(of(await collect(all), 'expired').garbage.objects).toBe(0);
    await engine.gc.setRules({ repository, rules: noDays });
    expect(of(await collect(all), 'expired').garbage.objects).toBe(2);
    await engine.tags.create({ repository, id: 'keep', ref: second, actor });
    world.now += 8 * day;
    expect(of(await collect(all), 'expired')).toMatchObject({
      rescued: { objects: 1 },
      deleted: { objects: 1 },
    });
    expect([await world.exists(namespace, one), await world.exists(namespace, two)]).toEqual([false, true]);
    expect((await engine.commits.log({ repository, ref: 'main' })).items).toHaveLength(4);
    const { kind } = await refusal(engine.objects.open({ repository, ref: first, path: 'a' }));
    expect(kind).toBe('data_gone');
  });

  it('deletes nothing before its window on a dry run, and tells what it would', async () => {
    const all = await open();
    const { world, engine, repository } = all;
    await put(engine, repository, 'main', 'a', 'old');
    await put(engine, repository, 'main', 'a', 'new');
    world.now += 26 * hour;
    const run = await engine.gcRuns.start({ repository, user: 'tester', dryRun: true });
    await world.collect(engine);
    const { items } = await engine.gcRuns.listObjects({ repository, run, kind: 'condemned' });
    expect(items).toMatchObject([{ size: 3, class: 'uncommitted' }]);
    expect(await engine.gcRuns.quarantine(repository)).toEqual({ objects: 0, bytes: 0 });
    expect(world.deleted).toEqual([]);
  });

  it('deletes at once in hard mode, after a second look', async () => {
    const all = await open();
    const { world, engine, repository, namespace } = all;
    await put(engine, repository, 'main', 'a', 'old');
    const old = await addressOf(engine, repository, 'main', 'a');
    await put(engine, repository, 'main', 'a', 'new');
    world.now += 28 * hour;
    expect(of(await collect(all, { hard: true }), 'uncommitted').deleted.objects).toBe(1);
    expect(await world.exists(namespace, old)).toBe(false);
  });

  it('does not wait for its second look when it must end', async () => {
    const all = await open();
    const { world, repository } = all;
    let isStopped = false;
    let rested = 0;
    const engine = await world.engine({
      rest: async (milliseconds) => {
        world.now += milliseconds;
        rested += milliseconds;
        isStopped = true;
      },
    });
    await put(engine, repository, 'main', 'a', 'old');
    await put(engine, repository, 'main', 'a', 'new');
    world.now += 28 * hour;
    const run = await engine.gcRuns.start({ repository, user: 'tester', hard: true });
    const job = engine.jobs.find(({ name }) => name === 'collect-garbage');
    await job?.begin()({ mayGoOn: () => Promise.resolve(!isStopped) });
    const { state, error } = await engine.gcRuns.get({ repository, run });
    expect([state, error]).toEqual(['failed', 'server stopped']);
    expect(rested).toBeLessThanOrEqual(2000);
    expect(world.deleted).toEqual([]);
  });

  it('collects the tables of a commit that was refused, and never those of a commit', async () => {
    const all = await open();
    const { world, engine, repository, namespace } = all;
    await put(engine, repository, 'main', 'a', 'one');
    await commit(engine, repository, 'main');
    const isTable = (key: string): boolean => /^_svc\/[0-9a-f]{64}$/.test(key);
    const before = (await world.keys(namespace)).filter(isTable);
    // A tree that no commit took.
    const pointer = { storageNamespace: namespace, identifierType: 'relative' } as const;
    const [table = ''] = before;
    const body = (await world.adapter.get({ ...pointer, identifier: table })).bytes ?? Buffer.alloc(0);
    const orphan = `_svc/${'0'.repeat(64)}`;
    await world.adapter.put({ ...pointer, identifier: orphan }, body);
    await world.adapter.put({ ...pointer, identifier: `_svc/${'1'.repeat(64)}` }, Buffer.from('no table'));
    world.now += 28 * hour;
    await collect(all);
    world.now += 8 * day;
    expect(of(await collect(all), 'tables').deleted.objects).toBe(1);
    const after = (await world.keys(namespace)).filter(isTable);
    expect(after).toEqual([...before, `_svc/${'1'.repeat(64)}`].sort());
  });

  it('never touches names it did not make', async () => {
    const all = await open();
    const { world, namespace } = all;
    const strange = ['data/notes.txt', 'data/x/y', '_svc/readme', 'stray'];
    for (const identifier of strange) {
      const pointer = { storageNamespace: namespace, identifier, identifierType: 'relative' } as const;
      await world.adapter.put(pointer, Buffer.from('x'));
    }
    world.now += 28 * hour;
    await collect(all, { hard: true });
    world.now += 8 * day;
    expect((await collect(all)).unknown.objects).toBeGreaterThanOrEqual(4);
    expect(await world.keys(namespace)).toEqual(expect.arrayContaining(strange));
  });

  it('keeps what a branch shows that is renamed behind its back', async () => {
    const all = await open();
    const { world, engine, repository } = all;
    await engine.branches.create({ repository, name: 'z', source: 'main', actor });
    await put(engine, repository, 'z', 'a', 'one');
    await commit(engine, repository, 'z');
    await engine.gc.setRules({ repository, rules: noDays });
    world.now += 28 * hour;
    let isRenamed = false;
    const rename = async (key: string): Promise<void> => {
      if (isRenamed || key !== 'branches/main') return;
      isRenamed = true;
      await engine.branches.create({ repository, name: 'a', source: 'z', actor });
      await engine.branches.delete({ repository, branch: 'z', actor });
    };
    const collector = await world.engine({ wrapKv: (kv) => entryByEntry(kv, rename) });
    const run = await engine.gcRuns.start({ repository, user: 'tester' });
    await world.collect(collector);
    const { report } = await engine.gcRuns.get({ repository, run });
    expect(isRenamed).toBe(true);
    expect(report?.live.objects).toBe(1);
  });

  it('keeps what another repository uses', async () => {
    const all = await open();
    const { world, engine, repository, namespace } = all;
    const other = await newRepository(engine);
    await put(engine, repository, 'main', 'a', 'old');
    const stat = await engine.objects.stat({ repository, ref: 'main', path: 'a' });
    const { physicalAddress, address } = stat;
    const brought = { repository: other, branch: 'main', path: 'b', physicalAddress, checksum: 'x', size: 3 };
    await engine.objects.stage({ ...brought, mayReadRepository: () => true });
    await put(engine, repository, 'main', 'a', 'new');
    world.now += 28 * hour;
    const report = await collect(all, { hard: true });
    expect(report.held).toEqual([{ repository: other, count: { objects: 1, bytes: 3 } }]);
    expect(await world.exists(namespace, address)).toBe(true);
  });

  it('stops where another installation, or a newer key-value store, collected', async () => {
    const all = await open();
    const { world, namespace } = all;
    await collect(all);
    const identifier = '_svc/retention/gc/svc/owner.json';
    const pointer = { storageNamespace: namespace, identifier, identifierType: 'relative' } as const;
    const owner = JSON.parse((await world.adapter.get(pointer)).bytes?.toString() ?? '{}') as object;
    await world.adapter.put(pointer, Buffer.from(JSON.stringify({ ...owner, generation: 99 })));
    await expect(collect(all)).rejects.toThrow('collected by another installation');
    await expect(collect(all)).rejects.toThrow('run again with take_over');
    expect((await collect(all, { takeOver: true })).listed.objects).toBe(0);
  });

  it('refuses a second run, lets a waiting one be cancelled, and rescues what it is asked to', async () => {
    const all = await open();
    const { world, engine, repository } = all;
    const run = await engine.gcRuns.start({ repository, user: 'tester' });
    const { message } = await refusal(engine.gcRuns.start({ repository, user: 'tester' }));
    expect(message).toBe(`garbage collection is already running: run ${run}`);
    await engine.gcRuns.cancel({ repository, run });
    expect((await engine.gcRuns.get({ repository, run })).state).toBe('canceled');
    await put(engine, repository, 'main', 'a', 'one');
    const first = await commit(engine, repository, 'main');
    await put(engine, repository, 'main', 'a', 'two');
    await commit(engine, repository, 'main');
    await engine.gc.setRules({ repository, rules: noDays });
    world.now += 28 * hour;
    await engine.gcRuns.rescue({ repository, user: 'tester', ref: first, days: 2 });
    expect(of(await collect(all), 'expired').garbage.objects).toBe(0);
    world.now += 3 * day;
    expect(of(await collect(all), 'expired').garbage.objects).toBe(1);
    world.now += 6 * day;
    await engine.gcRuns.rescue({ repository, user: 'tester', all: true });
    world.now += 2 * day;
    expect(of(await collect(all), 'expired').deleted.objects).toBe(0);
  });

  it('runs on schedule where that is asked for', async () => {
    const all = await open();
    const { world, engine, repository } = all;
    const schedule = async (): Promise<void> => {
      const job = engine.jobs.find(({ name }) => name === 'schedule-collections');
      await job?.begin()({ mayGoOn: () => Promise.resolve(true) });
      await world.collect(engine);
    };
    await schedule();
    expect((await engine.gcRuns.list({ repository })).items).toHaveLength(0);
    await engine.gcRuns.setSettings({ repository, settings: { enabled: 'on', intervalHours: 5 } });
    await schedule();
    await schedule();
    expect((await engine.gcRuns.list({ repository })).items).toMatchObject([{ user: 'scheduler' }]);
    world.now += 6 * hour;
    await schedule();
    const classes = async () => {
      const { items } = await engine.gcRuns.list({ repository });
      return items.map(({ options }) => options.classes);
    };
    // There is little metadata to collect, so that is looked for once a week.
    expect(await classes()).toEqual([
      ['objects', 'uploads'],
      ['objects', 'metadata', 'uploads'],
    ]);
    world.now += 7 * day;
    await schedule();
    expect((await classes())[0]).toEqual(['objects', 'metadata', 'uploads']);
  });

  it('tells once of every run that is over, however it ended', async () => {
    const all = await open();
    const { world, engine, repository } = all;
    const canceled = await engine.gcRuns.start({ repository, user: 'tester' });
    await engine.gcRuns.cancel({ repository, run: canceled });
    await collect(all);
    await collect(all, { dryRun: true });
    const { instanceUid } = await engine.repositories.get(repository);
    const partition = Buffer.from(`${repository}-${instanceUid}`);
    const told: unknown[] = [];
    for await (const page of world.kv.scan(partition, { prefix: Buffer.from('outbox/') })) {
      for (const { value } of page) {
        if (value.length === 0) continue;
        const { type, user, data } = eventMessage.decode(value);
        if (type === 'svc.task.finished') told.push([user, JSON.parse(data.toString())]);
      }
    }
    expect(told).toHaveLength(3);
    expect(told).toContainEqual(['tester', { operation: 'gc', ok: false, error: 'canceled' }]);
    expect(told).toContainEqual(['tester', { operation: 'gc', ok: true }]);
  });
});
