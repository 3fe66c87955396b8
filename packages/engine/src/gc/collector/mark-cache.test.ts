import { join } from 'node:path';
import { utimesSync } from 'node:fs';
import { tempDir } from '@svc/testing';
import { expect, it } from 'vitest';
import { MarkCache } from './mark-cache.ts';

it('removes what was not used for longest above its size, of all repositories together', () => {
  const folder = join(tempDir(), 'marks');
  const [one, other] = [new MarkCache(join(folder, 'one')), new MarkCache(join(folder, 'other'))];
  const marks = { marks: new Uint32Array(1000), bytes: 1 };
  const id = (digit: number): string => String(digit).repeat(64);
  const [old, new_, foreign] = [id(1), id(2), id(3)];
  for (const range of [old, new_]) one.writeRange(range, marks);
  other.writeRange(foreign, marks);
  const lately = (cache: MarkCache, range: string, minutes: number): void => {
    const time = new Date(Date.now() - minutes * 60_000);
    utimesSync(join(cache.folder, 'range', range), time, time);
  };
  lately(one, old, 30);
  lately(other, foreign, 20);
  lately(one, new_, 10);
  const kept = (): boolean[] => [one.hasRange(old), other.hasRange(foreign), one.hasRange(new_)];
  one.prune(new Set([old, new_]), Date.now(), 13_000);
  expect(kept()).toEqual([true, true, true]);
  one.prune(new Set([old, new_]), Date.now(), 9000);
  expect(kept()).toEqual([false, true, true]);
  one.prune(new Set([old, new_]), Date.now(), 0);
  expect(kept()).toEqual([false, false, false]);
});
