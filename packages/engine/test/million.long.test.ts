import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';

interface Measured {
  readonly commit: { readonly p99: number };
  readonly merge: { readonly p99: number };
  readonly peakMegabytes: number;
  readonly lastSize: number;
}

test('a million objects: memory stays bounded and stats stay quick while they are committed and merged', async () => {
  const folder = tempDir('million');
  mkdirSync(join(folder, 'outside'), { recursive: true });
  const child = join(import.meta.dirname, 'million-child.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [child, folder, '1000000']);
  const measured = JSON.parse(stdout) as Measured;
  expect(measured.lastSize).toBe(999_999);
  expect(measured.peakMegabytes).toBeLessThan(800);
  expect(measured.commit.p99).toBeLessThan(25);
  expect(measured.merge.p99).toBeLessThan(25);
});
