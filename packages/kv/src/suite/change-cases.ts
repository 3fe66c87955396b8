import { describe, expect, test } from 'vitest';
import type { KvCondition, KvStore, KvWrite } from '../store.ts';
import type { SuiteContext } from './describe-kv-store.ts';
import { bytes, freshPartition, readAll } from './partitions.ts';

type GuardState = 'absent' | 'present' | 'same' | 'other' | 'any';

export function changeCases(context: SuiteContext): void {
  describe('change', () => {
    const holding: [GuardState, boolean, boolean][] = [
      ['absent', false, true],
      ['absent', true, false],
      ['present', true, true],
      ['present', false, false],
      ['same', true, true],
      ['other', true, false],
      ['any', true, true],
      ['any', false, true],
    ];
    for (const written of ['put', 'create', 'delete', 'not'] as const) {
      test.each(holding.filter(([state]) => state !== 'absent' || written === 'put' || written === 'create'))(
        `guard %s, key there %s, ${written} written: %s`,
        async (state, there, happens) => {
          const { store } = context;
          const partition = freshPartition();
          await store.set(partition, bytes('kept'), bytes('1'));
          await store.set(partition, bytes('gone'), bytes('1'));
          await store.set(partition, bytes('over'), bytes('1'));
          if (there) await store.set(partition, bytes('guard'), bytes('1'));
          const condition = await conditionOf(store, partition, state);
          const before = await contents(store, partition);
          const guarded: KvWrite[] =
            written === 'not'
              ? []
              : written === 'delete'
                ? [{ type: 'delete', key: bytes('guard') }]
                : [put('guard', '2', written)];
          const answer = await store.change(partition, { key: bytes('guard'), condition }, [
            put('over', '2'),
            put('kept', '2', 'create'),
            put('new', '2', 'create'),
            { type: 'delete', key: bytes('gone') },
            { type: 'delete', key: bytes('never there') },
            ...guarded,
          ]);
          expect(answer).toBe(happens);
          const created = written === 'put' || (written === 'create' && before['guard'] === undefined);
          const guard = written === 'delete' ? {} : { guard: created ? '2' : before['guard'] };
          const now = { kept: '1', over: '2', new: '2', ...guard };
          expect(await contents(store, partition)).toEqual(happens ? defined(now) : before);
        },
      );
    }

    test.each([
      [false, true],
      [true, false],
    ])('guard absent, key there %s, puts and deletes alone: %s', async (there, happens) => {
      const { store } = context;
      const partition = freshPartition();
      await store.set(partition, bytes('gone'), bytes('1'));
      await store.set(partition, bytes('over'), bytes('1'));
      if (there) await store.set(partition, bytes('guard'), bytes('1'));
      const before = await contents(store, partition);
      const answer = await store.change(partition, { key: bytes('guard'), condition: 'absent' }, [
        put('a', '2'),
        put('over', '2'),
        { type: 'delete', key: bytes('gone') },
        put('guard', '2'),
        put('z', ''),
      ]);
      expect(answer).toBe(happens);
      const now = { a: '2', over: '2', guard: '2', z: '' };
      expect(await contents(store, partition)).toEqual(happens ? now : before);
    });

    test.each([
      ['absent', false, false, true],
      ['absent', false, true, false],
      ['absent', true, false, false],
      ['absent', true, true, false],
      ['any', true, false, true],
      ['any', true, true, false],
    ] as const)(
      'guard %s, key there %s, and a key that is still to be absent there %s: %s',
      async (condition, there, grave, happens) => {
        const { store } = context;
        const partition = freshPartition();
        if (there) await store.set(partition, bytes('guard'), bytes('1'));
        if (grave) await store.set(partition, bytes('grave'), bytes('1'));
        const before = await contents(store, partition);
        const still = { key: bytes('grave'), value: undefined };
        const guard = { key: bytes('guard'), condition };
        const writes = [put('guard', '2'), put('a', '2'), put('z', '2')];
        expect(await store.change(partition, guard, writes, still)).toBe(happens);
        const now = { guard: '2', a: '2', z: '2' };
        expect(await contents(store, partition)).toEqual(happens ? now : before);
        // What comes after it is not taken for a part of it.
        await store.set(partition, bytes('next'), bytes('1'));
        expect((await store.get(partition, bytes('next')))?.value).toEqual(bytes('1'));
      },
    );

    test('50 concurrent changes of one guard: one happens, with all its writes and none of the others', async () => {
      const other = await context.open();
      for (const [first, type] of [
        [true, 'create'],
        [true, 'put'],
        [false, 'create'],
      ] as const) {
        const partition = freshPartition();
        if (!first) await context.store.set(partition, bytes('head'), bytes('none'));
        const condition = (await context.store.get(partition, bytes('head')))?.predicate ?? 'absent';
        const won = await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            (index % 2 === 0 ? context.store : other).change(partition, { key: bytes('head'), condition }, [
              put('head', `${index}`),
              put(`a${index}`, 'made'),
              put(`b${index}`, 'made', type),
            ]),
          ),
        );
        expect(won.filter(Boolean)).toHaveLength(1);
        const winner = `${won.indexOf(true)}`;
        expect(await contents(other, partition)).toEqual({
          [`a${winner}`]: 'made',
          [`b${winner}`]: 'made',
          head: winner,
        });
      }
      await other.close();
    });

    test('concurrent changes of a chain leave every link and no other', async () => {
      const partition = freshPartition();
      const other = await context.open();
      const append = async (store: KvStore, name: string): Promise<void> => {
        for (;;) {
          const head = await store.get(partition, bytes('head'));
          const guard = { key: bytes('head'), condition: head?.predicate ?? 'absent' } as const;
          const link = put(`link/${name}`, head?.value.toString() ?? '', 'create');
          if (await store.change(partition, guard, [put('head', name), link])) return;
        }
      };
      await Promise.all(
        Array.from({ length: 20 }, (_, index) => append(index % 2 ? other : context.store, `${index}`)),
      );
      const all = await contents(context.store, partition);
      const walked: string[] = [];
      for (let at = all['head'] ?? ''; at !== ''; at = all[`link/${at}`] ?? '') walked.push(at);
      expect(walked).toHaveLength(20);
      expect(Object.keys(all)).toHaveLength(21);
      await other.close();
    });

    test('still: made while the key holds just that, or nothing', async () => {
      const { store } = context;
      const partition = freshPartition();
      await store.set(partition, bytes('state'), bytes('idle'));
      const attempt = (value: Buffer | undefined, key = 'state'): Promise<boolean> =>
        store.change(partition, { key: bytes('g'), condition: 'any' }, [put('g', '1')], {
          key: bytes(key),
          value,
        });
      for (const [value, key] of [
        [bytes('busy'), 'state'],
        [undefined, 'state'],
        [bytes(''), 'nothing'],
      ] as const) {
        expect(await attempt(value, key)).toBe(false);
        expect(await store.get(partition, bytes('g'))).toBeUndefined();
      }
      expect(await attempt(bytes('idle'))).toBe(true);
      expect(await attempt(undefined, 'nothing')).toBe(true);
      await store.set(partition, bytes('state'), bytes(''));
      expect(await attempt(bytes(''))).toBe(true);
    });

    test('still: a change of that key acknowledged before the call is noticed, whatever the guard', async () => {
      const { store } = context;
      const other = await context.open();
      for (const condition of ['absent', 'present', 'same', 'any'] as const) {
        const partition = freshPartition();
        await store.set(partition, bytes('state'), bytes('idle'));
        if (condition !== 'absent') await store.set(partition, bytes('g'), bytes('0'));
        const guard = { key: bytes('g'), condition: await conditionOf(store, partition, condition) };
        await other.set(partition, bytes('state'), bytes('busy'));
        const still = { key: bytes('state'), value: bytes('idle') };
        const before = await contents(store, partition);
        expect(await store.change(partition, guard, [put('g', '1'), put('x', '1')], still)).toBe(false);
        expect(await contents(store, partition)).toEqual(before);
      }
      await other.close();
    });

    test('buffers of the caller may change as soon as the call returned its promise', async () => {
      const { store } = context;
      const partition = freshPartition();
      const given = Buffer.from(partition);
      const [guardKey, key, value] = [bytes('head'), bytes('c1'), bytes('one')];
      const [stillKey, headValue] = [bytes('state'), bytes('c1')];
      const writing = store.change(
        given,
        { key: guardKey, condition: 'absent' },
        [
          { type: 'put', key: guardKey, value: headValue },
          { type: 'create', key, value },
        ],
        { key: stillKey, value: undefined },
      );
      for (const buffer of [given, guardKey, key, value, stillKey, headValue]) buffer.fill(0x78);
      expect(await writing).toBe(true);
      expect(await contents(store, partition)).toEqual({ c1: 'one', head: 'c1' });
    });

    test('99 writes pass; 100, none, more than 1 MiB and a key twice are refused before anything is written', async () => {
      const { store } = context;
      const partition = freshPartition();
      const guard = { key: bytes('g'), condition: 'any' } as const;
      const many = (count: number): KvWrite[] =>
        Array.from({ length: count }, (_, index) => put(`k${index}`, 'v'));
      const large = Buffer.alloc(1024 * 1024 - 1);
      const refused: KvWrite[][] = [
        [],
        many(100),
        [put('a', '1'), { type: 'put', key: bytes('b'), value: large }],
        [put('a', '1'), { type: 'delete', key: bytes('a') }],
      ];
      for (const writes of refused) {
        await expect(store.change(partition, guard, writes)).rejects.toMatchObject({
          kind: 'invalid_change',
        });
      }
      const absent = { key: bytes('g'), condition: 'absent' } as const;
      await expect(store.change(partition, absent, [put('a', '1')])).rejects.toMatchObject({
        kind: 'invalid_change',
      });
      expect(await contents(store, partition)).toEqual({});
      expect(await store.change(partition, guard, many(99))).toBe(true);
      expect(await store.change(partition, guard, [{ type: 'put', key: bytes('b'), value: large }])).toBe(
        true,
      );
      expect(Object.keys(await contents(store, partition))).toHaveLength(100);
    });

    test('what is missing is refused before anything is written', async () => {
      const { store } = context;
      const [partition, none] = [freshPartition(), Buffer.alloc(0)];
      const guard = { key: bytes('g'), condition: 'any' } as const;
      const calls: [() => Promise<boolean>, string][] = [
        [() => store.change(none, guard, [put('a', '1')]), 'missing_partition_key'],
        [() => store.change(partition, { ...guard, key: none }, [put('a', '1')]), 'missing_key'],
        [() => store.change(partition, guard, [put('a', '1'), put('', '1')]), 'missing_key'],
        [
          () => store.change(partition, guard, [put('a', '1')], { key: none, value: undefined }),
          'missing_key',
        ],
      ];
      for (const [call, kind] of calls) await expect(call()).rejects.toMatchObject({ kind });
      expect(await contents(store, partition)).toEqual({});
    });
  });
}

async function conditionOf(
  store: KvStore,
  partition: Buffer,
  state: GuardState,
): Promise<KvCondition | 'any'> {
  if (state !== 'same' && state !== 'other') return state;
  const read = await store.get(partition, bytes('guard'));
  const found = read ?? (await store.get(partition, bytes('g')));
  if (found === undefined) throw new Error('the entry is missing');
  if (state === 'other') await store.set(partition, bytes('guard'), bytes('changed'));
  return found.predicate;
}

export function put(key: string, value: string, type: 'put' | 'create' = 'put'): KvWrite {
  return { type, key: bytes(key), value: bytes(value) };
}

async function contents(store: KvStore, partition: Buffer): Promise<Record<string, string>> {
  const entries = await readAll(store, partition);
  return Object.fromEntries(entries.map(({ key, value }) => [key.toString(), value.toString()]));
}

function defined(record: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(record).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}
