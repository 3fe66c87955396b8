import { existsSync, mkdirSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { tempDir } from '@svc/testing';
import { expect, it } from 'vitest';
import { withScratch } from './scratch.ts';

it('removes its folder, and those of processes that died', async () => {
  const parent = join(tempDir(), 'tmp');
  const [dead, alive] = [join(parent, 'run-dead'), join(parent, 'run-alive')];
  mkdirSync(join(dead, 'marks'), { recursive: true });
  mkdirSync(alive);
  const old = new Date(Date.now() - 2 * 3_600_000);
  utimesSync(dead, old, old);
  const failed = withScratch(parent, (folder) => {
    expect(existsSync(folder)).toBe(true);
    throw new Error('failed');
  });
  await expect(failed).rejects.toThrow('failed');
  expect(readdirSync(parent)).toEqual(['run-alive']);
});
