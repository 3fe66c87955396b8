import { join } from 'node:path';
import { dataClients, orSkipReason, runCommand, tempDir } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendTable, type AppendedTable } from '../src/index.ts';
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

  /** What settles the conflict of `shared`. */
  const append = (source: string, destination: string): Promise<AppendedTable> =>
    appendTable({
      engine: catalog.engine,
      repository: 'lake',
      source,
      destination,
      path: '_iceberg/tables/shared.json',
      ensure: () => Promise.resolve(),
    });

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

  it('two branches that appended to one table: the rows of both are put together', async () => {
    const { engine } = catalog;
    const branches = ['twice', 'deletes', 'widens', 'renames'];
    await pyiceberg('parted');
    await catalog.commit('main');
    for (const name of branches)
      await engine.branches.create({ repository: 'lake', name, source: 'main', actor });
    await pyiceberg(
      'changes',
      'main/rows/50/51',
      'main/rows/60',
      'twice/rows/10/11',
      'twice/rows/20/21',
      'deletes/rows/30',
      'deletes/delete/1',
      'widens/widen',
      'widens/rows/40',
      'renames/property',
    );
    for (const name of ['main', ...branches]) await catalog.commit(name);

    await expect(append('deletes', 'main')).rejects.toThrow('deletes did more than append: snapshot');
    await expect(append('twice', 'deletes')).rejects.toThrow('deletes did more than append: snapshot');
    await expect(append('widens', 'main')).rejects.toThrow('widens changed the last-column-id of the table');
    await expect(append('renames', 'main')).rejects.toThrow('renames changed the properties of the table');
    const { resolution, additions } = await append('twice', 'main');
    const between = { repository: 'lake', source: 'twice', destination: 'main' };
    await engine.merges.merge({ ...between, resolutions: [resolution], additions, actor });
    // It goes on as if nothing had happened, also with deletes.
    await pyiceberg(
      'changes',
      'main/union/0/1/2/10/11/20/21/50/51/60',
      'main/rows/70',
      'main/delete/20',
      'main/union/0/1/2/10/11/21/50/51/60/70',
    );
  }, 300_000);

  it('DuckDB reads any ref, and writes to a branch', async () => {
    await pyiceberg('plain');
    await catalog.commit('main');
    await catalog.engine.tags.create({ repository: 'lake', id: 'v2', ref: 'main', actor });
    await tour('duckdb_tour.py', { words: ['main', 'v2'] });
  }, 300_000);
});
