// `npm test`: the static gate, then every suite. `--long` runs only the suites that take long.
// Other arguments go to vitest (`npm test -- packages/kv`): no static gate, and nothing is built or fetched
// before a suite asks for it.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const args = process.argv.slice(2);
const long = args.includes('--long');
const filters = args.filter((arg) => arg !== '--long');

function start(
  file: string,
  fileArgs: string[] = [],
  env: NodeJS.ProcessEnv = {},
  detached = false,
): ChildProcess {
  return spawn(process.execPath, [join(root, file), ...fileArgs], {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, ...env },
    detached,
  });
}

function status(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => child.once('close', (code) => resolve(code ?? 1)));
}

/** Servers and foreign clients come while the checks and the first suites run. */
function fetchInBackground(): void {
  // A group of its own, so that the downloads and compilers it has started end with the run.
  const child = start('packages/testing/src/fetch/fetch-everything.ts', [], {}, true);
  process.once('exit', () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid);
    } catch {
      // It has ended by itself.
    }
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
}

async function test(): Promise<number> {
  if (!long && filters.length === 0) {
    fetchInBackground();
    const gate = await Promise.all([
      status(start('scripts/check.ts')),
      status(start('scripts/bootstrap.mjs', ['--build'])),
    ]);
    const failed = gate.find((code) => code !== 0);
    if (failed !== undefined) return failed;
  }
  return await status(
    start('node_modules/vitest/vitest.mjs', ['run', ...filters], long ? { SVC_TEST_LONG: '1' } : {}),
  );
}

process.exit(await test());
