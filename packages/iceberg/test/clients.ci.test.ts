import { join } from 'node:path';
import { dataClients, orSkipReason, runCommand, tempDir } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actor, adminKey, composeCatalog, type TestCatalog } from './compose.ts';

const python = await orSkipReason('the data clients', dataClients);

describe.skipIf(python === undefined)('real clients of the catalog', () => {
  let catalog: TestCatalog;

  beforeAll(async () => {
    catalog = await composeCatalog();
    await catalog.createRepository('lake');
    await catalog.engine.branches.create({ repository: 'lake', name: 'dev', source: 'main', actor });
  });
  afterAll(async () => {
    await catalog.close();
    expect(catalog.failures).toEqual([]);
  });

  const tour = async (
    script: string,
    { step, words = [] }: { readonly step?: string; readonly words?: readonly string[] },
  ): Promise<void> => {
    const key = [adminKey.accessKeyId, adminKey.secretAccessKey];
    const steps = step === undefined ? [] : [step];
    await runCommand(
      python ?? '',
      [join(import.meta.dirname, 'tours', script), ...steps, catalog.endpoint, ...key, ...words],
      { env: { PATH: process.env['PATH'], HOME: tempDir('svc-iceberg-home'), LANG: 'C.UTF-8' } },
    );
  };
  const pyiceberg = (step: string, ...words: readonly string[]): Promise<void> =>
    tour('pyiceberg_tour.py', { step, words });

  it('PyIceberg: a table made on a branch is read from where it was merged to, without the branch', async () => {
    const { engine } = catalog;
    await pyiceberg('make');
    const lost = catalog.finished.filter((request) => request.operationId === 'icebergCommitTable');
    expect(lost.map(({ status }) => status)).toContain(409);
    await catalog.commit('dev');
    await engine.merges.merge({ repository: 'lake', source: 'dev', destination: 'main', actor });
    await engine.tags.create({ repository: 'lake', id: 'v1', ref: 'main', actor });
    const { commitId } = await engine.branches.get({ repository: 'lake', branch: 'main' });
    await pyiceberg('purge');
    await catalog.commit('dev');
    await engine.branches.delete({ repository: 'lake', branch: 'dev', actor });
    await pyiceberg('read', 'main', 'v1', commitId, 'main@{0}', 'main~0');

    // Two branches that appended to one table: the conflict names it, and either side can be taken whole.
    for (const name of ['left', 'right']) {
      await engine.branches.create({ repository: 'lake', name, source: 'main', actor });
      await pyiceberg('append', name, name === 'left' ? '5000' : '6000');
      await catalog.commit(name);
    }
    await engine.merges.merge({ repository: 'lake', source: 'left', destination: 'main', actor });
    const second = { repository: 'lake', source: 'right', destination: 'main', actor };
    await expect(engine.merges.merge(second)).rejects.toMatchObject({ kind: 'conflict' });
    const { items } = await engine.refs.diff({ repository: 'lake', left: 'main', right: 'right' });
    expect(items.filter(({ type }) => type === 'conflict').map(({ path }) => path)).toEqual([
      'sales/_iceberg/tables/orders.json',
    ]);
    // Time travel and revert go over tables as over any object.
    const reverted = { repository: 'lake', branch: 'main', ref: 'main', parentNumber: 1, actor };
    await engine.commits.revert(reverted);
    await pyiceberg('read', 'main');
  }, 300_000);

  it('DuckDB reads any ref, and writes to a branch', async () => {
    await pyiceberg('plain');
    await catalog.commit('main');
    await catalog.engine.tags.create({ repository: 'lake', id: 'v2', ref: 'main', actor });
    await tour('duckdb_tour.py', { words: ['main', 'v2'] });
  }, 300_000);
});
