// Writes, commits, merges and imports as fast as it can, printing each acknowledgement, until it is killed.
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openRealEngine } from './real-engine.ts';

const [folder = '', round = '0', sizes] = process.argv.slice(2);
const { engine } = await openRealEngine(folder, { worker: false, scarce: sizes === 'scarce' });
const repository = 'crash';
const actor = { committer: 'crash' };
const tell = (...words: (string | number)[]): boolean => process.stdout.write(`${words.join(' ')}\n`);

async function writer(name: string): Promise<never> {
  for (let count = Number(round) * 100_000; ; count += 1) {
    const path = `${name}/${count % 5}`;
    tell('trying', path, count);
    await engine.objects.upload({ repository, branch: 'main', path, body: Buffer.from(`${path}:${count}`) });
    tell('wrote', path, count);
  }
}

async function committer(): Promise<never> {
  for (;;) {
    try {
      const { id } = await engine.commits.create({
        repository,
        branch: 'main',
        message: `round ${round}`,
        actor,
      });
      tell('commit', 'main', id);
    } catch (error) {
      if ((error as { kind?: string }).kind !== 'no_changes') throw error;
    }
    await delay(5);
  }
}

async function merger(): Promise<never> {
  for (let count = 0; ; count += 1) {
    const source = `m-${round}-${count}`;
    await engine.branches.create({ repository, name: source, source: 'trunk', actor });
    await engine.objects.upload({
      repository,
      branch: source,
      path: `merged/${source}`,
      body: Buffer.from(source),
    });
    await engine.commits.create({ repository, branch: source, message: source, actor });
    const { id } = await engine.merges.merge({ repository, source, destination: 'trunk', actor });
    tell('commit', 'trunk', id);
    tell('merged', source);
    await engine.branches.delete({ repository, branch: source, actor });
  }
}

async function importer(): Promise<never> {
  for (let count = 0; ; count += 1) {
    const destination = `in-${round}-${count}/`;
    const path = `local://${join(folder, 'outside')}/`;
    const id = await engine.imports.start({
      repository,
      branch: 'imported',
      paths: [{ type: 'common_prefix', path, destination }],
      actor,
    });
    let status = await engine.imports.status({ repository, id });
    while (!status.completed && status.error === undefined) {
      await delay(10);
      status = await engine.imports.status({ repository, id });
    }
    if (status.error !== undefined) throw new Error(status.error);
    tell('commit', 'imported', status.commit?.id ?? '');
    tell('imported', destination);
  }
}

// A killed process leaves no compile cache for the next one.
if (round === '1') flushCompileCache();
tell('ready');
await Promise.all([writer('a'), writer('b'), writer('c'), committer(), merger(), importer()]);
