import { expect, test } from 'vitest';
import { PagedList } from './paged-list.ts';

const total = 120_000;

function numbers(): { list: PagedList<number>; reads: number[] } {
  const reads: number[] = [];
  const list = new PagedList<number>((after, amount) => {
    const first = after === '' ? 0 : Number(after);
    reads.push(first);
    const count = Math.min(amount, total - first);
    const next = first + count < total ? String(first + count) : undefined;
    return Promise.resolve({ rows: Array.from({ length: count }, (_, index) => first + index), next });
  }, '');
  return { list, reads };
}

async function settle(list: PagedList<number>): Promise<void> {
  while (list.state().loading) await new Promise((resolve) => setImmediate(resolve));
}

test('a long list is read to its end, holds a bounded number of rows and reads dropped ones again', async () => {
  const { list, reads } = numbers();
  list.more();
  await settle(list);
  expect(list.state()).toMatchObject({ count: 200, complete: false });
  while (!list.state().complete) {
    list.show(list.state().count - 20, list.state().count - 1);
    await settle(list);
  }
  expect(list.state().count).toBe(total);
  expect(list.row(total - 1)).toBe(total - 1);
  let held = 0;
  for (let index = 0; index < total; index++) if (list.row(index) !== undefined) held++;
  expect(held).toBeLessThanOrEqual(51_000);
  expect(list.row(5)).toBeUndefined();
  const before = reads.length;
  list.show(0, 20);
  await new Promise((resolve) => setImmediate(resolve));
  expect(reads.slice(before)).toEqual([0]);
  expect(list.row(5)).toBe(5);
});

test('a failed page is told and read again on demand; a reload keeps the rows until the new ones are there', async () => {
  let fail = true;
  let answer = ['a'];
  const list = new PagedList<string>(
    () => (fail ? Promise.reject(new Error('down')) : Promise.resolve({ rows: answer, next: undefined })),
    '',
  );
  list.more();
  await new Promise((resolve) => setImmediate(resolve));
  expect(list.state()).toMatchObject({ count: 0, loading: false, error: new Error('down') });
  fail = false;
  list.retry();
  await new Promise((resolve) => setImmediate(resolve));
  expect(list.row(0)).toBe('a');
  answer = ['b'];
  list.reload();
  expect(list.row(0)).toBe('a');
  await new Promise((resolve) => setImmediate(resolve));
  expect(list.row(0)).toBe('b');
});
