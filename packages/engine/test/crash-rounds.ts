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

/** Kills a busy child `rounds` times and looks after each death whether everything acknowledged is there. */
export async function crashRounds(folder: string, rounds: number): Promise<number> {
  mkdirSync(join(folder, 'outside'), { recursive: true });
  for (let index = 0; index < importedFiles; index += 1) {
    writeFileSync(join(folder, 'outside', `f${index}`), `content ${index}`);
  }
  const first = await openRealEngine(folder, { worker: false });
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
  let acknowledgements = 0;
  for (let round = 0; round < rounds; round += 1) {
    acknowledgements += await runUntilKilled(folder, round, known);
    const opened = await openRealEngine(folder, { worker: false });
    try {
      await verify(opened.engine, known, round % 10 === 9 || round === rounds - 1);
    } finally {
      await opened.close();
    }
  }
  return acknowledgements;
}

async function runUntilKilled(folder: string, round: number, known: Acknowledged): Promise<number> {
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, 'crash-child.ts'), folder, String(round + 1)],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      // Most of a short life would be spent reading sources.
      env: { ...process.env, NODE_COMPILE_CACHE: join(tmpdir(), 'svc-crash-compile-cache') },
    },
  );
  let count = 0;
  let killed = false;
  const lines = createInterface(child.stdout);
  lines.on('line', (line) => {
    count += 1;
    note(line.split(' '), known);
    if (line === 'ready') {
      setTimeout(
        () => {
          killed = true;
          child.kill('SIGKILL');
        },
        20 + Math.random() * 200,
      );
    }
  });
  await once(child, 'close');
  expect(killed, 'the child ended by itself').toBe(true);
  return count;
}

function note([what, name = '', value = '']: string[], known: Acknowledged): void {
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
