import { cpSync, globSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  analyticsClients,
  orSkipReason,
  runCommand,
  spark as fetchSpark,
  startSvcProcess,
  svcBundle,
  tempDir,
  waitUntil,
  type Spark,
  type SvcProcess,
} from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { blocksOf } from './integrations/documented-page.ts';
import { quickstart, runPage } from './integrations/run-page.ts';

const python = await orSkipReason('the analytics clients', analyticsClients);
const spark = await orSkipReason('Spark', fetchSpark);

let server: SvcProcess;
beforeAll(async () => {
  server = await startSvcProcess();
});
afterAll(() => server.stop());

describe.skipIf(python === undefined)('the pages about integrations', () => {
  const bin = dirname(python ?? '');

  it('tells what works: huggingface.md', async () => {
    const runners = { python: (code: string) => [python ?? '', '-c', code] };
    await runPage({ page: 'integrations/huggingface.md', server, runners });
  }, 300_000);

  it('tells what works: dbt.md', async () => {
    // DuckDB would fetch its extension from the network.
    const home = tempDir('svc-duckdb');
    const [file = ''] = globSync(join(bin, '../lib/**/httpfs.duckdb_extension'));
    const platform = await runCommand(python ?? '', [
      '-c',
      'import duckdb; print("v" + duckdb.__version__, duckdb.sql("PRAGMA platform").fetchone()[0])',
    ]);
    const target = join(home, '.duckdb', 'extensions', ...platform.trim().split(' '));
    mkdirSync(target, { recursive: true });
    cpSync(file, join(target, 'httpfs.duckdb_extension'));
    const dbt = ['env', `HOME=${home}`, join(bin, 'dbt')];
    await runPage({ page: 'integrations/dbt.md', server, runners: {}, programs: { dbt } });
  }, 300_000);
});

describe.skipIf(spark === undefined)('Spark through S3A', () => {
  const command = ({ python: program, jars }: Spark, code: string): string[] => [
    'env',
    `PYSPARK_SUBMIT_ARGS=--master local[2] --driver-memory 1g --conf spark.ui.enabled=false --jars ${jars.join(',')} pyspark-shell`,
    program,
    '-c',
    // The jars are here already.
    code.replace(/\.config\("spark\.jars\.packages", "[^"]*"\)\n\s*/, ''),
  ];

  it('does what the page tells', async () => {
    if (spark === undefined) return;
    await runPage({
      page: 'integrations/spark.md',
      server,
      runners: { spark: (code) => command(spark, code) },
    });
  }, 600_000);

  it('reads a branch at a time', async () => {
    if (spark === undefined) return;
    const [first] = blocksOf('integrations/spark.md', server.url);
    const session = first?.code.slice(0, first.code.indexOf('orders =')) ?? '';
    const svcctl = (...args: string[]): Promise<string> =>
      runCommand(process.execPath, [join(svcBundle(), 'svcctl.js'), ...args], {
        env: {
          HOME: tempDir(),
          SVCCTL_SERVER_ENDPOINT_URL: server.url,
          SVCCTL_CREDENTIALS_ACCESS_KEY_ID: quickstart.accessKeyId,
          SVCCTL_CREDENTIALS_SECRET_ACCESS_KEY: quickstart.secretAccessKey,
        },
      });
    const run = ([program = '', ...args]: string[]): Promise<string> => runCommand(program, args);
    const write = (rows: number): Promise<string> =>
      run(
        command(
          spark,
          `${session}\nspark.range(${rows}).write.mode("overwrite").parquet("s3a://lake/main/t")`,
        ),
      );
    await svcctl('repo', 'create', 'svc://lake', 'local://spark-times');
    await write(10);
    await svcctl('commit', 'svc://lake/main', '-m', 'ten');
    const committed = Math.floor(Date.now() / 1000);
    await waitUntil(() => (Date.now() / 1000 > committed + 1 ? true : undefined), {
      what: 'the next second',
    });
    const time = `${new Date((committed + 1) * 1000).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`;
    await write(20);
    await svcctl('commit', 'svc://lake/main', '-m', 'twenty');
    const counts = `for ref in ("main", "main@${time}"):\n    print(spark.read.parquet(f"s3a://lake/{ref}/t").count())`;
    expect(await run(command(spark, `${session}\n${counts}`))).toBe('20\n10\n');
  }, 600_000);
});
