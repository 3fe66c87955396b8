import { describe, expect, it } from 'vitest';
import { BlockError } from '../errors.ts';
import { deleteAll, type BatchDeletes } from './batch-deletes.ts';
import { batchBody, batchStatuses, isGone } from './batch-request.ts';

/** A store of two buckets whose batches do what a test says. */
function storeWith(batch: (items: readonly string[]) => readonly string[]): {
  readonly store: BatchDeletes<string>;
  readonly asked: string[];
} {
  const asked: string[] = [];
  const store: BatchDeletes<string> = {
    batchSize: 3,
    groupOf: (item) => item[0] ?? '',
    deleteBatch: async (items) => {
      asked.push(`batch ${items.join(' ')}`);
      return new Set(batch(items));
    },
    delete: async (item) => {
      asked.push(item);
      if (item.includes('forbidden')) throw new BlockError('forbidden', 'not you');
    },
  };
  return { store, asked };
}

describe('deletes in batches', () => {
  it('go by group and size, and a single one alone', async () => {
    const { store, asked } = storeWith((items) => items);
    expect(await deleteAll(store, ['a1', 'b1', 'a2', 'a3', 'a4', 'b2'])).toEqual([]);
    expect(asked).toEqual(['batch a1 a2 a3', 'batch b1 b2', 'a4']);
  });

  it('are repeated one by one for what a batch left, which tells why', async () => {
    const { store, asked } = storeWith((items) => items.slice(0, 1));
    const failures = await deleteAll(store, ['a1', 'a-forbidden', 'a3']);
    expect(failures).toMatchObject([{ item: 'a-forbidden', error: { kind: 'forbidden' } }]);
    expect(asked).toEqual(['batch a1 a-forbidden a3', 'a-forbidden', 'a3']);
  });

  it('do without batches where the store has none, and do not go on where it is away', async () => {
    const without = storeWith(() => {
      throw new BlockError('write_failed', 'no batches here');
    });
    expect(await deleteAll(without.store, ['a1', 'a2'])).toEqual([]);
    expect(without.asked).toEqual(['batch a1 a2', 'a1', 'a2']);
    const away = storeWith(() => {
      throw new BlockError('unavailable', 'nobody there');
    });
    expect(await deleteAll(away.store, ['a1', 'a2'])).toMatchObject([
      { item: 'a1', error: { kind: 'unavailable' } },
      { item: 'a2', error: { kind: 'unavailable' } },
    ]);
    expect(away.asked).toEqual(['batch a1 a2']);
  });
});

describe('a batch', () => {
  it('is one body, and its answer tells the status of each by number', () => {
    const body = batchBody(
      [
        { path: '/c/a%20b', headers: { authorization: 'Bearer x' } },
        { path: '/c/d', headers: {} },
      ],
      (index) => `<${index}>`,
    );
    const text = body.kind === 'bytes' ? Buffer.concat([...body.chunks]).toString() : '';
    expect(text).toContain('Content-ID: <1>\r\n\r\nDELETE /c/d HTTP/1.1\r\nContent-Length: 0\r\n\r\n');
    expect(text).toContain('DELETE /c/a%20b HTTP/1.1\r\nauthorization: Bearer x\r\n');
    const part = (id: string, status: string): string =>
      `--x\r\nContent-Type: application/http\r\nContent-ID: ${id}\r\n\r\nHTTP/1.1 ${status}\r\nContent-Length: 0\r\n\r\n`;
    const answer = `${part('<response-1>', '204 No Content')}${part('0', '404 Not Found')}${part('2', '503 Busy')}--x--`;
    const statuses = batchStatuses('multipart/mixed; boundary=x', answer);
    expect([0, 1, 2, 3].map((index) => isGone(statuses.get(index)))).toEqual([true, true, false, false]);
    expect(batchStatuses('application/json', answer).size).toBe(0);
  });
});
