// Bundles the web UI with its compressed forms; keeps the last build while its sources have not changed.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import { compressAll } from './compress.ts';

const root = join(import.meta.dirname, '..');
const ui = join(root, 'packages', 'ui');
const sources = [
  join(ui, 'src'),
  join(ui, 'public'),
  join(ui, 'index.html'),
  join(ui, 'vite.config.ts'),
  join(ui, 'package.json'),
  join(root, 'packages', 'client', 'src'),
  import.meta.filename,
];

function newest(path: string): number {
  if (!existsSync(path)) return 0;
  const stat = statSync(path);
  if (!stat.isDirectory()) return path.endsWith('.test.ts') ? 0 : stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Builds into `target`, or moves the last build there when it is still good. */
export async function buildUi(last: string, target: string): Promise<void> {
  const stamp = join(last, '.built');
  if (existsSync(stamp) && statSync(stamp).mtimeMs > Math.max(...sources.map(newest))) {
    await rename(last, target);
    return;
  }
  // Whatever this process runs for, what people load is the production form of its libraries.
  process.env['NODE_ENV'] = 'production';
  await build({
    configFile: join(ui, 'vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: target, emptyOutDir: true },
  });
  await compressAll(target);
  await writeFile(join(target, '.built'), '');
}
