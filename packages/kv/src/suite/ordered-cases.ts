import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { KvRecord } from '../store.ts';
import type { SuiteContext } from './describe-kv-store.ts';
import { bytes, freshPartition, readAll } from './partitions.ts';

export function orderedCases(context: SuiteContext): void {
  describe('setIfAfter', () => {
    test('stores both, and the first only where nothing has its key', async () => {
      const { store } = context;
      const partition = freshPartition();
      expect(
        await store.setIfAfter(partition, record('c1', 'one'), bytes('head'), bytes('c1'), 'absent'),
      ).toBe(true);
      const head = await store.get(partition, bytes('head'));
      if (head === undefined) throw new Error('the entry is missing');
      const again = record('c1', 'another');
      expect(await store.setIfAfter(partition, again, bytes('head'), bytes('c1 again'), head.predicate)).toBe(
        true,
      );
      expect(await readAll(store, partition)).toEqual([record('c1', 'one'), record('head', 'c1 again')]);
    });

    test.each(['absent', 'present', 'changed'] as const)(
      'writes nothing to the key unless it is %s',
      async (kind) => {
        const { store } = context;
        const partition = freshPartition();
        if (kind !== 'present') await store.set(partition, bytes('head'), bytes('old'));
        const read = await store.get(partition, bytes('head'));
        if (kind === 'changed') await store.set(partition, bytes('head'), bytes('moved'));
        const condition = kind === 'changed' ? (read?.predicate ?? 'absent') : kind;
        const first = record('c1', 'one');
        expect(await store.setIfAfter(partition, first, bytes('head'), bytes('new'), condition)).toBe(false);
        const expected = { absent: 'old', present: undefined, changed: 'moved' }[kind];
        expect((await store.get(partition, bytes('head')))?.value.toString()).toBe(expected);
        // It may have been stored already, but never as something else.
        expect([undefined, 'one']).toContain((await store.get(partition, bytes('c1')))?.value.toString());
      },
    );

    test('buffers of the caller may change as soon as the call returned its promise', async () => {
      const { store } = context;
      const partition = freshPartition();
      const given = Buffer.from(partition);
      const first = record('c1', 'one');
      const [key, value] = [bytes('head'), bytes('c1')];
      const writing = store.setIfAfter(given, first, key, value, 'absent');
      for (const buffer of [given, first.key, first.value, key, value]) buffer.fill(0x78);
      expect(await writing).toBe(true);
      expect(await readAll(store, partition)).toEqual([record('c1', 'one'), record('head', 'c1')]);
    });

    test('what is missing is refused before anything is written', async () => {
      const { store } = context;
      const partition = freshPartition();
      const [first, none] = [record('c1', 'one'), Buffer.alloc(0)];
      const calls = [
        () => store.setIfAfter(none, first, bytes('head'), bytes('c1'), 'absent'),
        () => store.setIfAfter(partition, { ...first, key: none }, bytes('head'), bytes('c1'), 'absent'),
        () => store.setIfAfter(partition, first, none, bytes('c1'), 'absent'),
      ];
      const kinds = ['missing_partition_key', 'missing_key', 'missing_key'];
      for (const [index, call] of calls.entries()) {
        await expect(call()).rejects.toMatchObject({ kind: kinds[index] });
      }
      expect(await readAll(store, partition)).toEqual([]);
    });

    test('whoever sees the second sees the first, while both are being written', async () => {
      const { store } = context;
      const other = await context.open();
      const partition = freshPartition();
      await store.set(partition, bytes('head'), bytes('none'));
      const moves = { done: false };
      const moving = (async () => {
        for (let round = 0; round < 50; round++) {
          const head = await store.get(partition, bytes('head'));
          const condition = head?.predicate ?? 'absent';
          const name = `c${round}`;
          expect(
            await store.setIfAfter(partition, record(name, 'made'), bytes('head'), bytes(name), condition),
          ).toBe(true);
        }
      })().finally(() => {
        moves.done = true;
      });
      while (!moves.done) {
        // A store may answer without ever leaving the turn.
        await setImmediate();
        const head = await other.get(partition, bytes('head'));
        const name = head?.value ?? bytes('missing');
        if (!name.equals(bytes('none')))
          expect((await other.get(partition, name))?.value).toEqual(bytes('made'));
      }
      await moving;
      await other.close();
    });
  });
}

function record(key: string, value: string): KvRecord & { key: Buffer; value: Buffer } {
  return { key: bytes(key), value: bytes(value) };
}
