import { setTimeout as delay } from 'node:timers/promises';
import { runOpenLoad } from '../driver/open-load.ts';
import { randomKey } from '../scenarios/bench.ts';
import { makeImportFolder } from '../scenarios/import.ts';
import { repository, row, tableHead, type World } from './world.ts';

const objects = 100_000;
const readable = 400;
const quietSeconds = 5;

/** Reads at a steady rate while a large commit and a large import run. */
export async function measureCommit(world: World, changes: number): Promise<void> {
  // The first keys are committed on main already, as they are staged again.
  if (changes <= objects) throw new Error(`--changes must be more than ${objects}`);
  const { api, requests } = world;
  const small = (index: number): string => `small/${index % readable}`;
  for (let at = 0; at < readable; at += 50) {
    const some = Array.from({ length: 50 }, (_, index) => small(at + index));
    await Promise.all(some.map((path) => api.upload(repository, 'main', path, Buffer.alloc(4096, 'x'))));
  }
  await world.stage('main', objects);
  await world.commit('main');
  await api.call('POST', `/repositories/${repository}/branches`, { name: 'large', source: 'main' });
  await world.stage('large', changes);
  const { folder, uri } = world.importSource();
  makeImportFolder(folder, changes);
  const kinds = [
    () => requests.stat('main', randomKey({ objects })),
    (sequence: number) => requests.get('main', small(sequence)),
  ];
  const { endpoint } = world.server;
  const options = { endpoint, connections: 16, perSecond: 2000 };
  const during = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const done = new AbortController();
    const reading = runOpenLoad({ ...options, signal: done.signal }, kinds);
    const began = performance.now();
    await work().finally(() => done.abort());
    const took = (performance.now() - began) / 1000;
    const [stat, get] = await reading;
    if (stat !== undefined) row(`stat, ${name} (${took.toFixed(1)} s)`, stat);
    if (get !== undefined) row(`GET of 4 KiB, ${name}`, get);
  };
  await runOpenLoad({ ...options, seconds: quietSeconds }, kinds);
  tableHead('2 000 reads a second, 16 connections');
  await during('nothing else', () => delay(quietSeconds * 1000));
  await during(`commit of ${changes} changes`, () => world.commit('large'));
  await during('nothing else', () => delay(quietSeconds * 1000));
  await during(`import of ${changes} files`, () => runImport(world, uri));
}

async function runImport({ api }: World, uri: string): Promise<void> {
  await api.call('POST', `/repositories/${repository}/branches`, { name: 'imported', source: 'main' });
  const target = `/repositories/${repository}/branches/imported/import`;
  const paths = [{ path: uri, destination: 'imported/', type: 'common_prefix' }];
  const { id } = await api.call<{ id: string }>('POST', target, { paths, commit: { message: 'import' } });
  for (;;) {
    const status = await api.call<{ completed: boolean; error?: { message: string } }>(
      'GET',
      `${target}?id=${id}`,
    );
    if (status.error !== undefined) throw new Error(status.error.message);
    if (status.completed) return;
    await delay(50);
  }
}
