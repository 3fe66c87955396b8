import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchOnce } from '../fetch/fetch-once.ts';
import { freePort } from '../free-port.ts';
import { runCommand } from '../run-command.ts';
import { UnavailableError } from '../unavailable-error.ts';
import { ServerProcess } from './server-process.ts';

const version = 476;
/** The Java that it asks for. */
const oldestJava = 24;
/** The connectors that are kept of fifty. */
const plugins = new Set(['hive', 'iceberg']);

interface Trino {
  readonly java: string;
  readonly home: string;
  readonly cli: string;
}

/** Trino with its command-line tool: 1 GB, only the long run needs it. */
export async function fetchTrino(): Promise<Trino> {
  const java = await newJava();
  const folder = await fetchOnce(`trino-${version}`, `Trino ${version}`, async (target) => {
    for (const artefact of [`trino-server:${version}:tar.gz`, `trino-cli:${version}:jar:executable`]) {
      const args = [`-Dartifact=io.trino:${artefact}`, '-DoutputDirectory=.'];
      await runCommand('mvn', ['-q', '-B', 'dependency:copy', ...args], { cwd: target });
    }
    const archive = `trino-server-${version}.tar.gz`;
    await runCommand('tar', ['xzf', archive], { cwd: target });
    await rm(join(target, archive));
    const all = join(target, `trino-server-${version}`, 'plugin');
    for (const name of await readdir(all)) {
      if (!plugins.has(name)) await rm(join(all, name), { recursive: true });
    }
  });
  return {
    java,
    home: join(folder, `trino-server-${version}`),
    cli: join(folder, `trino-cli-${version}-executable.jar`),
  };
}

async function newJava(): Promise<string> {
  for (const java of ['java', ...globSync('/usr/lib/jvm/*/bin/java')]) {
    const told = await runCommand(java, ['--version']).catch(() => '');
    if (Number(/^\S+ (\d+)/.exec(told)?.[1]) >= oldestJava) return java;
  }
  throw new UnavailableError(`Trino needs Java ${oldestJava}`);
}

export interface RunningTrino {
  /** The command that runs statements. */
  readonly command: (statements: string) => readonly string[];
  readonly dispose: () => Promise<void>;
}

/** A Trino of one node with the catalogs of a folder. */
export async function startTrino(catalogs: string): Promise<RunningTrino> {
  const { java, home, cli } = await fetchTrino();
  const folder = await mkdtemp(join(tmpdir(), 'svc-trino-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  await mkdir(join(folder, 'data'));
  const settings = {
    coordinator: 'true',
    'node-scheduler.include-coordinator': 'true',
    'http-server.http.port': new URL(url).port,
    'discovery.uri': url,
    'query.max-memory-per-node': '256MB',
    'memory.heap-headroom-per-node': '200MB',
    'plugin.dir': join(home, 'plugin'),
    'catalog.config-dir': catalogs,
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(folder, 'config.properties'), lines.join(''));
  const server = new ServerProcess(
    java,
    [
      '-Xmx1g',
      '-XX:+UseSerialGC',
      '-XX:ReservedCodeCacheSize=256M',
      '--add-modules=jdk.incubator.vector',
      '-Djdk.attach.allowAttachSelf=true',
      '-Dnode.environment=test',
      '-Dnode.id=test',
      `-Dnode.data-dir=${folder}/data`,
      `-Dconfig=${folder}/config.properties`,
      '-cp',
      join(home, 'lib', '*'),
      'io.trino.server.TrinoServer',
    ],
    { cwd: folder, ready: () => isReady(url), timeoutMs: 300_000 },
  );
  await server.start();
  return {
    command: (statements) => [
      java,
      '--enable-native-access=ALL-UNNAMED',
      '-jar',
      cli,
      '--server',
      url,
      '--output-format',
      'CSV_UNQUOTED',
      '--execute',
      statements,
    ],
    dispose: async () => {
      await server.stop('SIGKILL');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function isReady(url: string): Promise<void> {
  const { starting } = (await (await fetch(`${url}/v1/info`)).json()) as { starting?: boolean };
  if (starting !== false) throw new Error('Trino is starting');
}
