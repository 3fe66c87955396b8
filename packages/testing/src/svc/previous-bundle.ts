import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';

const kept = join(import.meta.dirname, '../../fixtures/previous-release.tar.br');
// Inside the clone, so that the packages it imports are found.
const cache = join(import.meta.dirname, '../../../../node_modules/.cache');

/** The folder of the server that was released before, as `scripts/keep-release.ts` kept it. */
export function previousBundle(): string {
  const packed = readFileSync(kept);
  const id = createHash('sha256').update(packed).digest('hex').slice(0, 12);
  const folder = join(cache, `svc-previous-${id}`);
  if (existsSync(folder)) return folder;
  const unfinished = `${folder}-${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  execFileSync('tar', ['-C', unfinished, '-xf', '-'], { input: brotliDecompressSync(packed) });
  try {
    renameSync(unfinished, folder);
  } catch (error) {
    // Another test process was quicker.
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
