import { describe, expect, test } from 'vitest';
import { scanSecondary, type SecondaryIndex } from '../scan-secondary.ts';
import type { KvScanOptions } from '../store.ts';
import type { SuiteContext } from './describe-kv-store.ts';
import { bytes, freshPartition } from './partitions.ts';

export function secondaryCases(context: SuiteContext): void {
  describe('secondary indexes', () => {
    const newIndex = (): SecondaryIndex => ({
      partition: freshPartition('index'),
      primaryPartition: freshPartition('primary'),
      primaryKey: (value) => value,
    });
    const read = async (index: SecondaryIndex, options?: KvScanOptions): Promise<string[]> => {
      const found: string[] = [];
      for await (const page of scanSecondary(context.store, index, options)) {
        found.push(...page.map((entry) => `${entry.indexKey.toString()}=${entry.value.toString()}`));
      }
      return found;
    };

    test('primary values come in the order of the index, without dangling pointers', async () => {
      const { store } = context;
      const index = newIndex();
      for (const name of ['x', 'y', 'z'])
        await store.set(index.primaryPartition, bytes(name), bytes(`value ${name}`));
      await store.set(index.partition, bytes('s/1'), bytes('z'));
      await store.set(index.partition, bytes('s/2'), bytes('gone'));
      await store.set(index.partition, bytes('s/3'), bytes('x'));
      await store.set(index.partition, bytes('t/1'), bytes('y'));
      expect(await read(index)).toEqual(['s/1=value z', 's/3=value x', 't/1=value y']);
      expect(await read(index, { prefix: bytes('s/') })).toEqual(['s/1=value z', 's/3=value x']);
      expect(await read(index, { prefix: bytes('s/'), after: bytes('s/1'), batch: 1 })).toEqual([
        's/3=value x',
      ]);
    });

    test('an empty pointer is an error', async () => {
      const index = newIndex();
      await context.store.set(index.partition, bytes('s'), bytes(''));
      await expect(read(index)).rejects.toMatchObject({ kind: 'missing_key' });
    });
  });
}
