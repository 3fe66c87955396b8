import { expect, test } from 'vitest';
import { SharedReads } from './shared-reads.ts';

/** Reads that end when told. */
function manualReads() {
  const pending: ((value: number) => void)[] = [];
  let started = 0;
  const load = (): Promise<number> => {
    started += 1;
    return new Promise((resolve) => pending.push(resolve));
  };
  return { load, pending, started: () => started };
}

test('a lone reader reads at once; readers meanwhile share the next read, never the one under way', async () => {
  const { load, pending, started } = manualReads();
  const reads = new SharedReads<number>(60_000);
  const first = reads.read('k', load);
  expect(started()).toBe(1);
  const second = reads.read('k', load);
  const third = reads.read('k', load);
  expect(started()).toBe(1);
  pending[0]!(1);
  expect(await first).toBe(1);
  await Promise.resolve();
  expect(started()).toBe(2);
  pending[1]!(2);
  expect(await Promise.all([second, third])).toEqual([2, 2]);
  const other = reads.read('k', load);
  expect(started()).toBe(3);
  pending[2]!(3);
  expect(await other).toBe(3);
});

test('the next read does not wait longer than the batch delay for a slow one', async () => {
  const { load, pending, started } = manualReads();
  const reads = new SharedReads<number>(1);
  const slow = reads.read('k', load);
  const next = reads.read('k', load);
  while (started() < 2) await new Promise((resolve) => setImmediate(resolve));
  pending[1]!(2);
  expect(await next).toBe(2);
  pending[0]!(1);
  expect(await slow).toBe(1);
});

test('a failed read fails its readers and nobody else', async () => {
  const reads = new SharedReads<number>(60_000);
  const failing = reads.read('k', () => Promise.reject(new Error('down')));
  const next = reads.read('k', () => Promise.resolve(7));
  await expect(failing).rejects.toThrow('down');
  expect(await next).toBe(7);
});
