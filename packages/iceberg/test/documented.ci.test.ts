import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { dataClients, orSkipReason, runCommand, tempDir } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { actor, adminKey, composeCatalog, type TestCatalog } from './compose.ts';

const python = await orSkipReason('the data clients', dataClients);
const page = readFileSync(join(import.meta.dirname, '../../../docs/integrations/iceberg.md'), 'utf8');
const documentedKey = 'AKIAIOSFOLQUICKSTART';
const documentedSecret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

describe.skipIf(python === undefined)('the page about Iceberg', () => {
  let catalog: TestCatalog;

  beforeAll(async () => {
    catalog = await composeCatalog();
    await catalog.createRepository('lake');
    await catalog.engine.branches.create({ repository: 'lake', name: 'dev', source: 'main', actor });
  });
  afterAll(() => catalog.close());

  /** What the page tells to run, for the server of this test. */
  const blocks = (kind: string): string[] =>
    [...page.matchAll(new RegExp(`<!-- run: ${kind} -->\\n\`\`\`\\w+\\n(.*?)\`\`\``, 'gs'))].map(
      ([, code = '']) =>
        code
          .replaceAll('http://localhost:8000', catalog.endpoint)
          .replaceAll(documentedKey, adminKey.accessKeyId)
          .replaceAll(documentedSecret, adminKey.secretAccessKey),
    );
  const run = (...args: readonly string[]): Promise<string> =>
    runCommand(python ?? '', args, {
      env: { PATH: process.env['PATH'], HOME: tempDir('svc-iceberg-home'), LANG: 'C.UTF-8' },
    });

  it('tells what works with PyIceberg', async () => {
    const { engine } = catalog;
    const [write = '', read = ''] = blocks('python');
    expect(await run('-c', write)).toBe("[{'id': 2, 'amount': 20.0}, {'id': 3, 'amount': 30.0}]\n");
    await catalog.commit('dev');
    await engine.merges.merge({ repository: 'lake', source: 'dev', destination: 'main', actor });
    expect(await run('-c', read)).toBe('3 3\n');
  }, 300_000);

  it('tells what works with DuckDB', async () => {
    const [sql = ''] = blocks('duckdb');
    expect(await run(join(import.meta.dirname, 'tours', 'run_sql.py'), sql)).toBe('[(4.0,)]\n');
  }, 300_000);
});
