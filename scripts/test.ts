// `npm test`: the static gate, then every suite. `--long` runs only the suites that take long.
// Other arguments go to vitest (`npm test -- packages/kv`), which skips the static gate.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const args = process.argv.slice(2);
const long = args.includes('--long');
const filters = args.filter((arg) => arg !== '--long');

function run(file: string, fileArgs: string[], env: NodeJS.ProcessEnv = process.env): void {
  const result = spawnSync(process.execPath, [file, ...fileArgs], { cwd: root, stdio: 'inherit', env });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

if (!long && filters.length === 0) run(join(root, 'scripts', 'check.ts'), []);
run(join(root, 'node_modules', 'vitest', 'vitest.mjs'), ['run', ...filters], {
  ...process.env,
  ...(long ? { SVC_TEST_LONG: '1' } : {}),
});
