import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KvStore } from '../store.ts';
import type { SuiteContext } from './describe-kv-store.ts';
import { freshPartition, readAll } from './partitions.ts';

const smallKey = fc.uint8Array({ minLength: 1, maxLength: 2, max: 3 }).map((key) => Buffer.from(key));
const value = fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes));
const step = fc.oneof(
  fc.record({ do: fc.constant('set' as const), key: smallKey, value }),
  fc.record({ do: fc.constant('delete' as const), key: smallKey, value }),
  fc.record({ do: fc.constant('absent' as const), key: smallKey, value }),
  fc.record({ do: fc.constant('present' as const), key: smallKey, value }),
  fc.record({ do: fc.constant('unchanged' as const), key: smallKey, value }),
  fc.record({ do: fc.constant('changed' as const), key: smallKey, value }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** The store against a plain map. */
export function modelCases(context: SuiteContext): void {
  describe('model', () => {
    test('any sequence of operations behaves like a sorted map', async () => {
      const run = async (steps: Step[], start: Buffer): Promise<void> => {
        const partition = freshPartition('model');
        const model = new Map<string, Buffer>();
        for (const each of steps) await applyStep(context.store, partition, model, each);
        const expected = [...model]
          .map(([key, stored]) => ({ key: Buffer.from(key, 'latin1'), value: stored }))
          .toSorted((a, b) => Buffer.compare(a.key, b.key));
        expect(await readAll(context.store, partition, { batch: 2 })).toEqual(expected);
        expect(await readAll(context.store, partition, { start })).toEqual(
          expected.filter((entry) => Buffer.compare(entry.key, start) >= 0),
        );
      };
      await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 25 }), smallKey, run), { numRuns: 25 });
    });

    test('random byte keys come back in byte order', async () => {
      const partition = freshPartition('bytes');
      const keys = fc.sample(fc.uint8Array({ minLength: 1, maxLength: 60 }), { numRuns: 400, seed: 7 });
      await Promise.all(keys.map((key) => context.store.set(partition, key, key)));
      const unique = [...new Set(keys.map((key) => Buffer.from(key).toString('latin1')))];
      const expected = unique
        .map((key) => Buffer.from(key, 'latin1'))
        .toSorted((a, b) => Buffer.compare(a, b));
      const entries = await readAll(context.store, partition, { batch: 16 });
      expect(entries.map((entry) => entry.key)).toEqual(expected);
      expect(entries.map((entry) => entry.value)).toEqual(expected);
    });
  });
}

async function applyStep(
  store: KvStore,
  partition: Buffer,
  model: Map<string, Buffer>,
  each: Step,
): Promise<void> {
  const name = each.key.toString('latin1');
  const known = model.get(name);
  const read = await store.get(partition, each.key);
  expect(read?.value).toEqual(known);
  let written: boolean;
  switch (each.do) {
    case 'set':
      await store.set(partition, each.key, each.value);
      model.set(name, each.value);
      return;
    case 'delete':
      await store.delete(partition, each.key);
      model.delete(name);
      return;
    case 'absent':
    case 'present':
      written = await store.setIf(partition, each.key, each.value, each.do);
      expect(written).toBe((known === undefined) === (each.do === 'absent'));
      if (written) model.set(name, each.value);
      return;
    case 'unchanged':
      if (read === undefined) return;
      expect(await store.setIf(partition, each.key, each.value, read.predicate)).toBe(true);
      model.set(name, each.value);
      return;
    case 'changed':
      if (read === undefined) return;
      await store.set(partition, each.key, Buffer.concat([read.value, Buffer.of(1)]));
      model.set(name, Buffer.concat([read.value, Buffer.of(1)]));
      expect(await store.setIf(partition, each.key, each.value, read.predicate)).toBe(false);
      expect(await store.deleteIf(partition, each.key, read.predicate)).toBe(false);
  }
}
