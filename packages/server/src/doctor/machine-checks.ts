import { X509Certificate } from 'node:crypto';
import { constants } from 'node:fs';
import { access, readFile, stat, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname } from 'node:path';
import { storeSettings, type Config, type LoadedConfig } from '../config/index.ts';
import { parseListenAddress, publicUrl } from '../http/address.ts';
import { readTlsPair } from '../http/tls.ts';
import { errorText } from '../logging/index.ts';
import { ensurePortIsFree } from '../processes/port-check.ts';
import { version } from '../version.ts';
import { failure, ok, warning, type Finding } from './finding.ts';

const oldestNode = [24, 11] as const;
const mebibyte = 2 ** 20;
/** Below this the embedded store stops to write. */
const leastFree = 64 * mebibyte;
const littleFree = 1024 * mebibyte;
const fewFiles = 4096;
const dayMs = 24 * 3_600_000;

export function checkVersions(node: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = node.split('.').map(Number);
  const text = `svc ${version} on Node.js ${node}`;
  const isOld = major < oldestNode[0] || (major === oldestNode[0] && minor < oldestNode[1]);
  if (!isOld) return ok('versions', text);
  return failure('versions', text, `install Node.js ${oldestNode.join('.')} or newer`);
}

export async function checkConfigFile({ file, warnings }: LoadedConfig): Promise<Finding[]> {
  const said = warnings.map((text) => warning('configuration', text, 'see docs/configuration.md'));
  if (file === undefined) return [ok('configuration', 'no file; environment and defaults'), ...said];
  const { mode } = await stat(file);
  // oxlint-disable-next-line no-bitwise
  const isOpen = (mode & 0o004) !== 0;
  const readable = isOpen
    ? warning(
        'configuration',
        `every user of this machine can read ${file}`,
        `run "chmod o= ${file}" if it holds secrets`,
      )
    : ok('configuration', file);
  return [readable, ...said];
}

/** Folders that the server writes to, by the key that names them. */
export function foldersOf(config: Config): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  const { type, local } = config.database;
  if (type === 'local' && !local.path.startsWith('memory:')) folders.set('database.local.path', local.path);
  for (const store of storeSettings(config)) {
    if (store.type === 'local')
      folders.set(`blockstore.local.path${store.id && ` of ${store.id}`}`, store.local.path);
  }
  folders.set('committed.local_cache.dir', config.committed.local_cache.dir);
  for (const output of config.logging.output) {
    if (output !== '' && output !== '-' && output !== '=') folders.set('logging.output', dirname(output));
  }
  folders.set('temporary files', tmpdir());
  return folders;
}

export async function checkFolder(
  key: string,
  path: string,
  free: (path: string) => Promise<number> = freeBytes,
): Promise<Finding> {
  const check = `folder ${path}`;
  const existing = await nearest(path);
  if (!(await stat(existing)).isDirectory()) {
    return failure(check, `${existing} is a file (${key})`, `set ${key} to a folder`);
  }
  try {
    // oxlint-disable-next-line no-bitwise
    await access(existing, constants.W_OK | constants.X_OK);
  } catch {
    return failure(
      check,
      `this user cannot write to ${existing} (${key})`,
      'run as the user of the server, or change the owner of the folder',
    );
  }
  const bytes = await free(existing);
  const room = `${Math.floor(bytes / mebibyte)} MiB free (${key})`;
  if (bytes < leastFree) return failure(check, room, 'free some space: writes are refused');
  if (bytes < littleFree) return warning(check, room, 'free some space soon');
  return ok(check, existing === path ? room : `not there yet, ${room}`);
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(path);
  return bavail * bsize;
}

/** The folder, or the next one above it that is there. */
async function nearest(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  );
  return isThere || dirname(path) === path ? path : nearest(dirname(path));
}

export async function checkOpenFiles(limits = '/proc/self/limits'): Promise<Finding[]> {
  const text = await readFile(limits, 'utf8').catch(() => '');
  const limit = Number(/^Max open files\s+(\d+)/m.exec(text)?.[1] ?? Number.NaN);
  if (Number.isNaN(limit)) return [];
  if (limit >= fewFiles) return [ok('open files', `at most ${limit}`)];
  return [
    warning(
      'open files',
      `at most ${limit}: connections are refused when they are used up`,
      `raise the limit to ${fewFiles} or more (ulimit -n, LimitNOFILE=)`,
    ),
  ];
}

export function checkTls({ tls }: Config, now = Date.now()): Finding[] {
  if (!tls.enabled) return [];
  try {
    const { validTo } = new X509Certificate(readTlsPair(tls).cert);
    const left = Date.parse(validTo) - now;
    const text = `the certificate is good until ${validTo}`;
    if (left < 0) return [failure('tls', text, `put a new one into ${tls.cert_file}`)];
    if (left < 14 * dayMs) return [warning('tls', text, `put a new one into ${tls.cert_file} in time`)];
    return [ok('tls', text)];
  } catch (error) {
    return [failure('tls', errorText(error), 'correct tls.cert_file and tls.key_file')];
  }
}

/** A port that is in use is right when it is this server that uses it. */
export async function checkListener(config: Config): Promise<Finding> {
  const { host, port } = parseListenAddress(config.listen_address);
  try {
    await ensurePortIsFree({ host, port });
    return ok('listener', `${config.listen_address} is free`);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE' && (await isAlive(publicUrl(host, port, config.tls.enabled)))) {
      return ok('listener', `a server is alive on ${config.listen_address}`);
    }
    return failure(
      'listener',
      `cannot listen on ${config.listen_address}: ${errorText(error)}`,
      'stop the program that uses the port, or correct listen_address',
    );
  }
}

async function isAlive(url: string): Promise<boolean> {
  // A certificate of a name that this machine does not ask for is no proof of another server.
  if (url.startsWith('https:')) return true;
  try {
    const answer = await fetch(`${url}/_health`, { signal: AbortSignal.timeout(2000) });
    return (await answer.text()).startsWith('alive!');
  } catch {
    return false;
  }
}
