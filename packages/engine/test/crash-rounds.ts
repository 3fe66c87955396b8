import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import type { Engine } from '../src/engine.ts';
import { actor, contents, paths, read } from './fixture.ts';
import { openRealEngine } from './real-engine.ts';

const repository = 'crash';
const branches = ['main', 'trunk', 'imported'];
const importedFiles = 12;

/** What children were told is done. */
interface Acknowledged {
  readonly written: Map<string, number>;
  readonly tried: Map<string, number>;
  readonly commits: Map<string, string[]>;
  readonly merged: string[];
  readonly imported: string[];
}

/**
 * Kills a busy child `rounds` times and looks after each death whether everything acknowledged is there. The last child
 * lives until every kind of work was acknowledged, however slow the machine is; `signal` ends it if that never happens.
 */
export async function crashRounds(
  folder: string,
  rounds: number,
  signal: AbortSignal,
  sizes: 'plenty' | 'scarce' = 'plenty',
): Promise<void> {
  const settings = { worker: false, scarce: sizes === 'scarce' };
  mkdirSync(join(folder, 'outside'), { recursive: true });
  for (let index = 0; index < importedFiles; index += 1) {
    writeFileSync(join(folder, 'outside', `f${index}`), `content ${index}`);
  }
  const first = await openRealEngine(folder, settings);
  await first.engine.repositories.create({ name: repository, storageNamespace: 'local://crash', actor });
  for (const name of branches.slice(1)) {
    await first.engine.branches.create({ repository, name, source: 'main', actor });
  }
  await first.close();
  const known: Acknowledged = {
    written: new Map(),
    tried: new Map(),
    commits: new Map(branches.map((name) => [name, []])),
    merged: [],
    imported: [],
  };
  for (let round = 0; round < rounds; round += 1) {
    const last = round === rounds - 1;
    const wanted = Math.floor(Math.random() * 20);
    await runUntilKilled(
      [folder, String(round + 1), sizes],
      known,
      signal,
      (acknowledged) => acknowledged >= wanted && !(last && kindMissing(known)),
    );
    const opened = await openRealEngine(folder, settings);
    try {
      await verify(opened.engine, known, round % 10 === 9 || last);
    } finally {
      await opened.close();
    }
  }
}

function kindMissing({ written, commits, merged, imported }: Acknowledged): boolean {
  const kinds = [[...written.keys()], ...commits.values(), merged, imported];
  return kinds.some((acknowledged) => acknowledged.length === 0);
}

/** Kills the child at a random moment after `enough` says so, asked at its start and after each acknowledgement. */
async function runUntilKilled(
  childArguments: readonly string[],
  known: Acknowledged,
  signal: AbortSignal,
  enough: (acknowledged: number) => boolean,
): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'crash-child.ts'), ...childArguments], {
    stdio: ['ignore', 'pipe', 'inherit'],
    signal,
    killSignal: 'SIGKILL',
    // Most of a short life would be spent reading sources.
    env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'svc-crash-compile-cache') },
  });
  let acknowledged = 0;
  let dying = false;
  const lines = createInterface(child.stdout);
  lines.on('line', (line) => {
    const [what, ...told] = line.split(' ');
    note(what, told, known);
    if (what !== 'ready' && what !== 'trying') acknowledged += 1;
    if (dying || what === 'trying' || !enough(acknowledged)) return;
    dying = true;
    setTimeout(() => child.kill('SIGKILL'), Math.random() * 20);
  });
  await once(child, 'close');
  expect(child.signalCode, 'the child ended by itself').toBe('SIGKILL');
}

function note(what: string | undefined, [name = '', value = '']: string[], known: Acknowledged): void {
  if (what === 'trying') known.tried.set(name, Number(value));
  else if (what === 'wrote') known.written.set(name, Number(value));
  else if (what === 'commit') known.commits.get(name)?.push(value);
  else if (what === 'merged') known.merged.push(name);
  else if (what === 'imported') known.imported.push(name);
}

async function verify(engine: Engine, known: Acknowledged, wholly: boolean): Promise<void> {
  for (const [path, count] of known.written) {
    const shown = (await read(engine, repository, 'main', path)).split(':');
    expect(shown[0]).toBe(path);
    // Writes that were under way when a child died may be there or not; nothing older than the acknowledged one.
    expect(Number(shown[1])).toBeGreaterThanOrEqual(count);
    expect(Number(shown[1])).toBeLessThanOrEqual(known.tried.get(path) ?? count);
  }
  for (const [branch, ids] of known.commits) {
    const history = new Set<string>();
    let after = '';
    for (;;) {
      const page = await engine.commits.log({ repository, ref: branch, amount: 1000, after });
      for (const { id } of page.items) history.add(id);
      if (!page.hasMore) break;
      after = page.nextOffset;
    }
    expect(ids.filter((id) => !history.has(id))).toEqual([]);
  }
  const trunk = new Set(await paths(engine, repository, 'trunk', { amount: 1000 }));
  expect(known.merged.filter((name) => !trunk.has(`merged/${name}`))).toEqual([]);
  const imported = await paths(engine, repository, 'imported', { amount: 1000 });
  for (const destination of known.imported) {
    expect(imported.filter((path) => path.startsWith(destination)).length).toBe(importedFiles);
  }
  if (wholly) for (const branch of branches) await contents(engine, repository, branch);
  // The branch still takes writes and commits.
  await engine.commits.create({ repository, branch: 'main', message: 'after', allowEmpty: true, actor });
}
