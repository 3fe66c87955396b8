import { describe, expect, test } from 'vitest';
import type { KvStore } from '../store.ts';
import type { SuiteContext } from './describe-kv-store.ts';
import { bytes, freshPartition, readKeys } from './partitions.ts';

export function raceCases(context: SuiteContext): void {
  describe('races', () => {
    test('of 50 concurrent creations of one key exactly one succeeds', async () => {
      const partition = freshPartition();
      const other = await context.open();
      const won = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          (index % 2 === 0 ? context.store : other).setIf(partition, bytes('k'), bytes(`${index}`), 'absent'),
        ),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
      const winner = won.indexOf(true);
      expect((await context.store.get(partition, bytes('k')))?.value).toEqual(bytes(`${winner}`));
      await other.close();
    });

    test('50 concurrent increments by get and setIf add up', async () => {
      const partition = freshPartition();
      const other = await context.open();
      await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          increment(index % 2 === 0 ? context.store : other, partition),
        ),
      );
      expect((await other.get(partition, bytes('counter')))?.value).toEqual(bytes('50'));
      await other.close();
    });

    test('a write that is told that nothing was sealed is seen by whoever seals', async () => {
      const { store } = context;
      if (store.setThenGet === undefined) return;
      const setThenGet = store.setThenGet.bind(store);
      const other = await context.open();
      const branches = freshPartition();
      let unsealed = 0;
      for (let round = 0; round < 40; round += 1) {
        const [token, branch] = [freshPartition(), bytes(`branch ${round}`)];
        await store.set(branches, branch, bytes('open'));
        const sealed = other.set(branches, branch, bytes('sealed')).then(() => readKeys(other, token));
        const written = await Promise.all(
          Array.from({ length: 10 }, async (_, index) => {
            const key = `${index}`;
            const put = { partition: token, key: bytes(key), value: bytes('x') };
            return (await setThenGet(put, branches, branch))?.value.toString() === 'open' ? [key] : [];
          }),
        );
        const seen = await sealed;
        unsealed += written.flat().length;
        expect(seen).toEqual(expect.arrayContaining(written.flat()));
      }
      // Else nothing was at stake.
      expect(unsealed).toBeGreaterThan(0);
      await other.close();
    });

    test('300 calls at once, several of a key, each have their own effect and answer', async () => {
      const other = await context.open();
      const handles = [context.store, other];
      const partitions = [freshPartition(), freshPartition(), freshPartition()];
      const calls = Array.from({ length: 300 }, (_, index) => ({
        store: handles[index % 2] ?? other,
        partition: partitions[index % 3] ?? bytes('p'),
        key: bytes(`k${index % 60}`),
        value: bytes(`v${index}`),
      }));
      const grave = bytes('grave');
      await context.store.set(partitions[0] ?? bytes('p'), grave, bytes(''));
      const made = await Promise.all(
        calls.map(({ store, partition, key, value }) =>
          store.change(
            partition,
            { key, condition: 'absent' },
            [
              { type: 'put', key, value },
              { type: 'put', key: Buffer.concat([bytes('of '), value]), value: key },
            ],
            { key: grave, value: undefined },
          ),
        ),
      );
      const read = (prefix: string): Promise<(string | undefined)[]> =>
        Promise.all(
          calls.map(async ({ store, partition, key, value }) => {
            const name = prefix === '' ? key : Buffer.concat([bytes(prefix), value]);
            return (await store.get(partition, name))?.value.toString();
          }),
        );
      const winners = calls.filter((_, index) => made[index]).map(({ value }) => value.toString());
      // A key for each rest of 60, in the two partitions without a grave.
      expect(winners).toHaveLength(40);
      const [won, links] = [await read(''), await read('of ')];
      for (const [index, { partition, key, value }] of calls.entries()) {
        const isFree = partition !== partitions[0];
        expect(won[index] === undefined).toBe(!isFree);
        if (isFree) expect(winners).toContain(won[index]);
        expect(links[index]).toBe(made[index] === true ? key.toString() : undefined);
        expect(made[index] === true).toBe(won[index] === value.toString());
      }
      await Promise.all(calls.map(({ store, partition, key, value }) => store.set(partition, key, value)));
      for (const [index, value] of (await read('')).entries()) {
        const rivals = calls.filter(
          ({ partition, key }) => partition === calls[index]?.partition && key.equals(calls[index].key),
        );
        expect(rivals.map((rival) => rival.value.toString())).toContain(value);
      }
      await other.close();
    });

    test('a deletion and an update with the same predicate: exactly one happens', async () => {
      const { store } = context;
      const partition = freshPartition();
      for (let round = 0; round < 20; round++) {
        const key = bytes(`k${round}`);
        await store.set(partition, key, bytes('1'));
        const read = await store.get(partition, key);
        if (read === undefined) throw new Error('the entry is missing');
        const [deleted, updated] = await Promise.all([
          store.deleteIf(partition, key, read.predicate),
          store.setIf(partition, key, bytes('2'), read.predicate),
        ]);
        expect(deleted).not.toBe(updated);
        expect((await store.get(partition, key))?.value).toEqual(updated ? bytes('2') : undefined);
      }
    });
  });
}

async function increment(store: KvStore, partition: Buffer): Promise<void> {
  for (;;) {
    const current = await store.get(partition, bytes('counter'));
    const next = bytes(String(Number(current?.value ?? 0) + 1));
    if (await store.setIf(partition, bytes('counter'), next, current?.predicate ?? 'absent')) return;
  }
}
