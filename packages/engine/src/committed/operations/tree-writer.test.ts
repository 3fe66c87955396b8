import { tempDir, waitUntil } from '@svc/testing';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Namespace } from '../store/namespace.ts';
import type { TableStore, WrittenTable } from '../store/table-store.ts';
import { TreeWriter } from './tree-writer.ts';

const folder = tempDir();
const split = { minRangeSize: 1, maxRangeSize: 1_000_000, raggedness: 1 };

/** A writer of three ranges, whose tables are stored when the test says so. */
function heldWriter() {
  const storing: { type: WrittenTable['type']; end: (error?: Error) => void }[] = [];
  let files = 0;
  const unused = (): never => {
    throw new Error('nothing is read');
  };
  const store: TableStore = {
    openRange: unused,
    metaRange: unused,
    prefetchRange: unused,
    temporaryPath: () => join(folder, String((files += 1))),
    publish: (_namespace, { type }) =>
      new Promise((resolve, reject) => {
        storing.push({ type, end: (error) => (error === undefined ? resolve() : reject(error)) });
      }),
  };
  const writer = new TreeWriter({ store, namespace: {} as Namespace, split });
  for (const name of ['a', 'b', 'c']) {
    const record = Buffer.from(name);
    writer.addRecord(record, 0, 1, record, 0, 1);
  }
  const end = (type: WrittenTable['type'], error?: Error): void => {
    for (const table of storing) if (table.type === type) table.end(error);
  };
  /** Until everything is on its way. */
  const begun = (): Promise<unknown> => waitUntil(() => storing.some(({ type }) => type === 'metaranges'));
  const aWhile = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
  return { writer, storing, end, begun, aWhile };
}

test('a metarange is stored beside its ranges, and a tree is there when all of them are', async () => {
  const { writer, storing, end, begun, aWhile } = heldWriter();
  let isThere = false;
  const finished = writer.finish().then((id) => {
    isThere = true;
    return id;
  });
  await begun();
  expect(storing.filter(({ type }) => type === 'ranges').length).toBeGreaterThan(0);
  expect(storing.filter(({ type }) => type === 'metaranges')).toHaveLength(1);
  end('metaranges');
  await aWhile();
  expect(isThere).toBe(false);
  end('ranges');
  expect(await finished).toMatch(/^[0-9a-f]{64}$/);
});

test.each(['ranges', 'metaranges'] as const)(
  'a tree of which %s are not stored fails, when nothing is under way any more',
  async (refused) => {
    const { writer, end, begun, aWhile } = heldWriter();
    let hasFailed = false;
    const finished = writer.finish().catch((error: Error) => {
      hasFailed = true;
      return error.message;
    });
    await begun();
    end(refused, new Error('the disk is full'));
    await aWhile();
    expect(hasFailed).toBe(false);
    end(refused === 'ranges' ? 'metaranges' : 'ranges');
    expect(await finished).toBe('the disk is full');
  },
);
