// Plain JavaScript without dependencies: this runs on whatever Node.js the machine has (20 or newer),
// before anything is installed. It installs the locked dependencies (which bring the Node.js version the
// service runs on) when they are missing or older than the lock file, then builds with that version.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

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

function newestSource(folder) {
  let newest = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules' || entry.name === 'dist' || entry.name.endsWith('.test.ts')) continue;
    const path = join(folder, entry.name);
    newest = Math.max(newest, entry.isDirectory() ? newestSource(path) : mtime(path));
  }
  return newest;
}

function buildIfNeeded() {
  const stamp = join(root, 'dist', '.built');
  const sources = Math.max(
    newestSource(join(root, 'packages')),
    newestSource(join(root, 'scripts')),
    mtime(join(root, 'package-lock.json')),
  );
  if (existsSync(stamp) && mtime(stamp) > sources) return;
  run(join(root, 'node_modules', '.bin', 'node'), [join(root, 'scripts', 'build.ts')]);
}

installIfNeeded();
if (process.argv.includes('--build')) buildIfNeeded();
