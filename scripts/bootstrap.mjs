// Plain JavaScript without dependencies: this runs on whatever Node.js the machine has (20 or newer),
// before anything is installed. It installs the locked dependencies (which bring the Node.js version the
// service runs on) when they are missing or older than the lock file, then builds with that version.
import { spawnSync } from 'node:child_process';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

/** The Node.js version the service runs on, as the dependencies bring it. */
export const projectNode = join(root, 'node_modules', '.bin', 'node');

function run(command, args) {
  const result = spawnSync(command, args, {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  if (result.error) {
    console.error(`svc: could not run "${command}": ${result.error.message}`);
    process.exit(1);
  }
  if (result.status !== 0) process.exit(result.status ?? 1);
}

function mtime(path) {
  try {
    return statSync(path).mtimeMs;
  } catch {
    return 0;
  }
}

function installIfNeeded() {
  const installed = mtime(join(root, 'node_modules', '.package-lock.json'));
  if (installed >= mtime(join(root, 'package-lock.json')) && installed > 0) return;
  console.error('svc: installing dependencies (once, up to a minute) …');
  // Progress and notices go to stderr so that the output of the command itself stays clean.
  const result = spawnSync(
    'npm',
    [
      'ci',
      '--ignore-scripts',
      '--include=optional',
      '--include=dev',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ],
    { cwd: root, stdio: ['ignore', 2, 2], shell: process.platform === 'win32' },
  );
  if (result.status !== 0) {
    console.error(
      'svc: "npm ci" failed; check the network or proxy settings of npm and run the command again.',
    );
    process.exit(result.status ?? 1);
  }
}

const notBuilt = new Set(['node_modules', 'dist', 'test', 'testing', 'fixtures']);

function newestSource(folder) {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (notBuilt.has(entry.name) || entry.name.endsWith('.test.ts')) continue;
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestSource(path) : mtime(path));
  }
  return newest;
}

/** Whether everything the bundle is made of is older than the bundle. */
function isBuilt() {
  const built = mtime(join(root, 'dist', '.built'));
  return (
    built > mtime(join(root, 'package-lock.json')) &&
    built > newestSource(join(root, 'packages')) &&
    built > newestSource(join(root, 'scripts'))
  );
}

/** Installs and, if asked to, builds what is missing or stale. */
export function bootstrap({ build }) {
  installIfNeeded();
  if (build && !isBuilt()) run(projectNode, [join(root, 'scripts', 'build.ts')]);
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url))
  bootstrap({ build: process.argv.includes('--build') });
