import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  airflow as fetchAirflow,
  analyticsClients,
  fetchTrino,
  mounts,
  orSkipReason,
  rclone as fetchRclone,
  runCommand,
  spark as fetchSpark,
  startHive,
  startSvcProcess,
  startTrino,
  svcBundle,
  tempDir,
  type RunningHive,
  type RunningTrino,
  type SvcProcess,
} from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PageFolder } from './integrations/documented-page.ts';
import { PythonSession } from './integrations/python-session.ts';
import { runPage, svcctlEnv } from './integrations/run-page.ts';

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

const trino = await orSkipReason('Trino', fetchTrino);

describe.skipIf(trino === undefined)('Trino', () => {
  let hive: RunningHive;
  let running: RunningTrino | undefined;
  beforeAll(async () => {
    hive = await startHive();
  }, 300_000);
  afterAll(async () => {
    await running?.dispose();
    await hive.dispose();
  });

  it('does what the page tells', async () => {
    const runTrino = async (statements: string, folder: string): Promise<string> => {
      running ??= await startTrino(join(folder, 'etc/catalog'));
      const [program = '', ...args] = running.command(statements);
      return runCommand(program, args);
    };
    const addresses = { 'localhost:9083': hive.address };
    await runPage({ page: 'integrations/trino.md', server, runners: { trino: runTrino }, addresses });
  }, 900_000);
});

const airflow = await orSkipReason('Airflow', fetchAirflow);

describe.skipIf(airflow === undefined)('Airflow', () => {
  it('tells what works: airflow.md', async () => {
    await runPage({
      page: 'integrations/airflow.md',
      server,
      runners: {},
      programs: { airflow: [airflow ?? ''] },
    });
  }, 900_000);
});

const mounting = await orSkipReason('mounts', mounts);
const rclone = await orSkipReason('rclone', fetchRclone);

describe.skipIf(mounting === undefined || rclone === undefined)('mounts', () => {
  it('tells what works: mount.md', async () => {
    await runPage({
      page: 'integrations/mount.md',
      server,
      runners: {},
      programs: { rclone: [rclone ?? ''] },
    });
  }, 300_000);
});

describe.skipIf(spark === undefined)('Spark', () => {
  const folder = tempDir('svc-spark');
  let session: PythonSession | undefined;
  afterAll(() => session?.end());

  /** One Spark for everything, with the settings of the page: it takes long to start. */
  const run = (code: string, settings: string): Promise<string> => {
    if (session === undefined) {
      const { python: program = '', jars = [] } = spark ?? {};
      // The jars are here already.
      const text = readFileSync(join(settings, 'conf/spark-defaults.conf'), 'utf8');
      const kept = text.replace(/^spark\.jars\.packages.*\n/m, '');
      writeFileSync(
        join(folder, 'spark-defaults.conf'),
        `${kept}\nspark.jars ${jars.join(',')}\nspark.master local[2]\nspark.driver.memory 1500m\nspark.ui.enabled false\nspark.sql.shuffle.partitions 2\n`,
      );
      new PageFolder(folder).program('svcctl', [process.execPath, join(svcBundle(), 'svcctl.js')]);
      session = new PythonSession(program, {
        cwd: folder,
        env: {
          ...svcctlEnv(server.url),
          HOME: folder,
          PATH: `${folder}/.bin:${process.env['PATH']}`,
          SPARK_CONF_DIR: folder,
        },
      });
    }
    return session.run(code);
  };

  it('does what the page tells', async () => {
    await runPage({ page: 'integrations/spark.md', server, runners: { spark: run } });
  }, 900_000);

  it('writes with every committer, and tables of every format', async () => {
    const tour = readFileSync(join(import.meta.dirname, 'integrations', 'spark_tour.py'), 'utf8');
    expect(await session?.run(tour)).toBe('done\n');
  }, 900_000);
});
