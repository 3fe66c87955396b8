import type { KvEntry, KvScanOptions, KvStore } from '@svc/kv';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { TokenScan, type JumpsAhead } from './token-scan.ts';

/** Gives pages of any size, also short ones that are not the last. */
function storeOf(keys: readonly string[], pageSizes: readonly number[]): Pick<KvStore, 'scan'> {
  let pages = 0;
  return {
    async *scan(_partition: Uint8Array, { start, prefix, before, batch = 1 }: KvScanOptions = {}) {
      let left = keys.filter(
        (key) =>
          key >= String(start ?? '') &&
          key.startsWith(String(prefix ?? '')) &&
          (before === undefined || key < String(before)),
      );
      while (left.length > 0) {
        const size = Math.min(batch, pageSizes[pages++ % pageSizes.length] ?? 1);
        yield left.slice(0, size).map((key): KvEntry => ({ key: Buffer.from(key), value: Buffer.from(key) }));
        left = left.slice(size);
      }
    },
  };
}

/** The keys a00 to a59. */
function storeOfSixty(): Pick<KvStore, 'scan'> {
  const keys = Array.from({ length: 60 }, (_, n) => `a${String(n).padStart(2, '0')}`);
  return storeOf(keys, [100]);
}

function jumpsTo(foretold: readonly string[]): JumpsAhead {
  const all = foretold.toSorted().map((jump) => Buffer.from(jump));
  return {
    after: (from, most) =>
      Promise.resolve(all.filter((jump) => Buffer.compare(jump, from) > 0).slice(0, most)),
  };
}

const key = fc.stringMatching(/^[a-c]{1,4}$/);

const cases = fc.record({
  keys: fc.uniqueArray(key, { maxLength: 40 }).map((keys) => keys.toSorted()),
  pageSizes: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 5 }),
  from: fc.option(key, { nil: undefined }),
  prefix: fc.option(fc.constantFrom('a', 'b', 'ca'), { nil: undefined }),
  before: fc.option(key, { nil: undefined }),
  wanted: fc.integer({ min: 1, max: 6 }),
  peeks: fc.boolean(),
  foretold: fc.option(fc.uniqueArray(key, { maxLength: 12 }), { nil: undefined }),
  steps: fc.array(
    fc.oneof(
      fc.constant('next' as const),
      key.map((to) => ({ to })),
    ),
    { maxLength: 40 },
  ),
});

test('steps and jumps of any kind show what is stored', async () => {
  await fc.assert(
    fc.asyncProperty(cases, async (all) => {
      const { keys, pageSizes, from = '', prefix = '', before, wanted, peeks, foretold, steps } = all;
      const range = {
        from: Buffer.from(from),
        prefix: Buffer.from(prefix),
        before: before === undefined ? undefined : Buffer.from(before),
        wanted,
        jumps: foretold && jumpsTo(foretold),
      };
      const scan = new TokenScan(storeOf(keys, pageSizes) as KvStore, Buffer.from('token'), range);
      const stored = keys.filter((one) => one.startsWith(prefix) && (before === undefined || one < before));
      const firstFrom = (least: string): number => {
        const at = stored.findIndex((one) => one >= least);
        return at < 0 ? stored.length : at;
      };
      let at = firstFrom(from);
      if (peeks) expect(await scan.isEmpty()).toBe(at === stored.length);
      for (const step of steps) {
        if (step !== 'next') {
          scan.seek(Buffer.from(step.to));
          at = firstFrom(step.to);
          continue;
        }
        const hasMore = await scan.next();
        expect(hasMore ? scan.key.toString() : undefined).toBe(stored[at]);
        if (hasMore) at += 1;
      }
    }),
    { numRuns: 2000 },
  );
});

test('a jump before anything was read asks once, from where it leads', async () => {
  const asked: KvScanOptions[] = [];
  const { scan: read } = storeOf(['a', 'b', 'c'], [1]);
  const kv = {
    scan(partition: Uint8Array, options?: KvScanOptions) {
      asked.push(options ?? {});
      return read(partition, options);
    },
  };
  const scan = new TokenScan(kv as KvStore, Buffer.from('token'), { wanted: 9 });
  scan.seek(Buffer.from('b'));
  expect(await scan.next()).toBe(true);
  expect(scan.key.toString()).toBe('b');
  expect(asked).toMatchObject([{ start: Buffer.from('b'), batch: 10 }]);
});

test('what was begun for jumps that nobody made is ended', async () => {
  const { scan: read } = storeOfSixty();
  let open = 0;
  const kv = {
    async *scan(partition: Uint8Array, options?: KvScanOptions) {
      open += 1;
      try {
        yield* read(partition, options);
      } finally {
        open -= 1;
      }
    },
  };
  const jumps = jumpsTo(['a30', 'a40', 'a50']);
  const scan = new TokenScan(kv as unknown as KvStore, Buffer.from('token'), { wanted: 9, jumps });
  await scan.next();
  for (const [to, found] of [
    ['a20', 'a20'],
    ['a40', 'a40'],
    ['a45', 'a45'],
  ] as const) {
    scan.seek(Buffer.from(to));
    expect(await scan.next()).toBe(true);
    expect(scan.key.toString()).toBe(found);
  }
  expect(open).toBe(2);
  scan.close();
  await new Promise(setImmediate);
  expect(open).toBe(0);
});

test('a jump that was foretold and failed fails when it is made, not before', async () => {
  const { scan: read } = storeOfSixty();
  const kv = {
    async *scan(partition: Uint8Array, options?: KvScanOptions) {
      if (String(options?.start) === 'a40') throw new Error('the store is down');
      yield* read(partition, options);
    },
  };
  const jumps = jumpsTo(['a40', 'a50']);
  const scan = new TokenScan(kv as unknown as KvStore, Buffer.from('token'), { wanted: 9, jumps });
  await scan.next();
  scan.seek(Buffer.from('a20'));
  expect(await scan.next()).toBe(true);
  await new Promise(setImmediate);
  scan.seek(Buffer.from('a40'));
  await expect(async () => scan.next()).rejects.toThrow('the store is down');
});

test('where nothing can be foretold the jump is made all the same, and nothing is begun after the end', async () => {
  const { scan: read } = storeOfSixty();
  let begun = 0;
  const kv = {
    scan(partition: Uint8Array, options?: KvScanOptions) {
      begun += 1;
      return read(partition, options);
    },
  } as unknown as KvStore;
  const { promise, resolve } = Promise.withResolvers<Buffer[]>();
  const answers = [Promise.reject(new Error('a table is damaged')), promise];
  const jumps: JumpsAhead = { after: () => answers.shift() ?? Promise.resolve([]) };
  const scan = new TokenScan(kv, Buffer.from('token'), { wanted: 9, jumps });
  await scan.next();
  scan.seek(Buffer.from('a20'));
  expect(await scan.next()).toBe(true);
  expect(scan.key.toString()).toBe('a20');
  scan.seek(Buffer.from('a40'));
  const last = scan.next();
  scan.close();
  resolve([Buffer.from('a50')]);
  await last;
  expect(begun).toBe(3);
});
