import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { tempDir } from '@svc/testing';
import { beforeAll, expect, it } from 'vitest';
import { EngineError } from '../src/errors.ts';
import { openCrashEngine } from './collector-crash-engine.ts';
import { actor, commit, put, read } from './fixture.ts';
import { day } from './gc-world.ts';

const repository = 'crashed';
const files = 40;
const rounds = 24;
const template = tempDir('template');
const child = join(import.meta.dirname, 'collector-crash-child.ts');
const timeout = 600_000;

const storeOf = (folder: string): string => join(folder, 'objects', repository);

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const dataOf = (folder: string): Set<string> => {
  const store = storeOf(folder);
  return new Set(filesBelow(join(store, 'data')).map((file) => relative(store, file)));
};

function collectUntil(
  folder: string,
  call: number,
): { readonly signal: string | null; readonly seen: string[] } {
  const { signal, stdout, stderr } = spawnSync(process.execPath, [child, folder, repository, String(call)], {
    encoding: 'utf8',
  });
  if (call === 0 && stdout === '') throw new Error(stderr);
  return { signal, seen: stdout === '' ? [] : (JSON.parse(stdout) as string[]) };
}

/** Addresses that some run had planned to delete before it began. */
function planned(folder: string): Set<string> {
  const plans = filesBelow(join(storeOf(folder), '_svc')).filter((file) => file.endsWith('plan.jsonl.gz'));
  const lines = plans.flatMap((file) => gunzipSync(readFileSync(file)).toString().split('\n'));
  return new Set(
    lines.filter((line) => line !== '').map((line) => (JSON.parse(line) as { address: string }).address),
  );
}

/** Ten days ago: objects that were overwritten while they were staged, and others that are in use. */
beforeAll(async () => {
  const { engine, close } = await openCrashEngine({ folder: template, ahead: -10 * day });
  await engine.repositories.create({ name: repository, storageNamespace: `local://${repository}`, actor });
  for (let index = 0; index < files; index += 1) {
    await put(engine, repository, 'main', `file-${index}`, 'old');
    await put(engine, repository, 'main', `file-${index}`, `new ${index}`);
  }
  await commit(engine, repository, 'main');
  await close();
  const old = new Date(Date.now() - 10 * day);
  for (const file of filesBelow(storeOf(template))) utimesSync(file, old, old);
});

it(
  'goes on after kill -9 at any call, and every object that is missing was planned',
  { timeout },
  async () => {
    const whole = join(tempDir('whole'), 'copy');
    cpSync(template, whole, { recursive: true, preserveTimestamps: true });
    const { seen } = collectUntil(whole, 0);
    expect(dataOf(whole).size).toBe(files);
    const firstDelete = seen.indexOf('delete one');
    expect(firstDelete).toBeGreaterThan(0);
    // Half of the deaths come where objects are deleted.
    const every = Array.from({ length: rounds / 2 }, (_, round) =>
      Math.ceil(((round + 0.5) * seen.length * 2) / rounds),
    );
    const last = seen.lastIndexOf('delete one') + 12;
    const among = Array.from(
      { length: rounds / 2 },
      (_, round) => firstDelete + Math.ceil(((round + 0.5) * (last - firstDelete) * 2) / rounds),
    );
    let deaths = 0;
    let brokenOff = 0;
    for (const call of [...every, ...among]) {
      const folder = join(tempDir(`crash-${call}`), 'copy');
      cpSync(template, folder, { recursive: true, preserveTimestamps: true });
      const before = dataOf(folder);
      if (collectUntil(folder, call).signal === 'SIGKILL') deaths += 1;
      const after = dataOf(folder);
      const missing = [...before].filter((key) => !after.has(key));
      if (missing.length > 0 && missing.length < files) brokenOff += 1;
      const plan = planned(folder);
      expect(missing.filter((key) => !plan.has(key))).toEqual([]);
      await nextRunCompletes(folder);
    }
    expect(deaths).toBeGreaterThanOrEqual(rounds - 2);
    expect(brokenOff).toBeGreaterThanOrEqual(rounds / 4);
  },
);

async function nextRunCompletes(folder: string): Promise<void> {
  const { engine, collect, close } = await openCrashEngine({ folder });
  try {
    // The dead one's lease ends when nobody has renewed it for a minute.
    await collect();
    await collect();
    try {
      await engine.gcRuns.start({ repository, user: 'next', hard: true });
    } catch (error) {
      if (!(error instanceof EngineError) || error.kind !== 'conflict') throw error;
    }
    await collect();
    await collect();
    const { items } = await engine.gcRuns.list({ repository });
    expect(items[0]).toMatchObject({ state: 'completed' });
    expect(dataOf(folder).size).toBe(files);
    for (const index of [0, 1, files - 1]) {
      expect(await read(engine, repository, 'main', `file-${index}`)).toBe(`new ${index}`);
    }
    expect(existsSync(join(folder, 'gc', 'tmp'))).toBe(true);
  } finally {
    await close();
  }
}
