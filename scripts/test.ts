// `npm test`: the static gate, then the suites; with CI=true also those that take long
// (`x.ci.test.ts`). `--long` runs only the suites that take long. Other arguments go to vitest
// (`npm test -- packages/kv`): no static gate, and nothing is built or fetched before a suite asks for it.
import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const args = process.argv.slice(2);
const long = args.includes('--long');
const filters = args.filter((arg) => arg !== '--long');
const quick = !long && filters.length === 0 && process.env['CI'] !== 'true';

const running = new Set<ChildProcess>();

function start(file: string, fileArgs: string[] = [], options: SpawnOptions = {}): ChildProcess {
  return spawn(process.execPath, [join(root, file), ...fileArgs], {
    cwd: root,
    stdio: 'inherit',
    ...options,
  });
}

function run(file: string, fileArgs: string[] = [], options: SpawnOptions = {}): Promise<number> {
  const child = start(file, fileArgs, options);
  running.add(child);
  return new Promise((resolve) => {
    child.once('close', (code) => {
      running.delete(child);
      resolve(code ?? 1);
    });
  });
}

/** Servers and foreign clients come while the checks and the first suites run. */
function fetchInBackground(): void {
  // A group of its own, so that the downloads and compilers it has started end with the run.
  const file = 'packages/testing/src/fetch/fetch-everything.ts';
  const child = start(file, quick ? ['--quick'] : [], { detached: true });
  process.once('exit', () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid);
    } catch {
      // It has ended by itself.
    }
  });
}

async function test(): Promise<number> {
  if (!long && filters.length === 0) {
    fetchInBackground();
    const codes = await Promise.all([run('scripts/check.ts'), run('scripts/bootstrap.mjs', ['--build'])]);
    const failed = codes.find((code) => code !== 0);
    if (failed !== undefined) return failed;
  }
  const env = {
    ...process.env,
    ...(long && { SVC_TEST_LONG: '1' }),
    ...(quick && { SVC_TEST_QUICK: '1' }),
  };
  const code = await run('node_modules/vitest/vitest.mjs', ['run', ...filters], { env });
  if (quick)
    console.log(
      'Left out: foreign clients, browsers, crashes, random histories. CI=true npm test runs them too.',
    );
  return code;
}

// A terminal interrupts everything that runs here; vitest ends its servers before it ends.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => {
  for (const child of running) child.kill();
});
process.exit(await test());
