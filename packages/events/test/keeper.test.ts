import { createMemStore, MemState, type KvStore } from '@svc/kv';
import { expect, test } from 'vitest';
import { EventLog, Keeper, KeeperTerm, trimEvents } from '../src/index.ts';
import { partitionOf, readLog, replay, silent, sourceOf, Writer, type TestSource } from './moves.ts';
import { Killed, killedAt, namedCalls, steppedKv, type Step } from './stepped-kv.ts';

const repositories = ['one', 'two'];
const partitions = ['graveler', ...repositories.map(partitionOf)];

function termOf(kv: KvStore, source: TestSource, clearAfterMs = 0): Promise<KeeperTerm> {
  return KeeperTerm.begin({ kv, source, logger: silent, clock: Date.now, clearAfterMs });
}

/** Until nothing is left, as a keeper without trouble would. */
async function drain(kv: KvStore, source: TestSource, clearAfterMs = 0): Promise<void> {
  const term = await termOf(kv, source, clearAfterMs);
  for (;;) {
    const round = await term.round(partitions);
    if (round === undefined) throw new Error('nobody else keeps the log');
    if (round.appended === 0) return term.clear();
  }
}

async function outboxOf(kv: KvStore): Promise<string[]> {
  const keys: string[] = [];
  for (const partition of partitions) {
    for await (const page of kv.scan(Buffer.from(partition), { prefix: Buffer.from('outbox/') })) {
      keys.push(...page.map(({ key }) => `${partition} ${key.toString('hex')}`));
    }
  }
  return keys;
}

async function writeSome(writer: Writer): Promise<void> {
  for (const ref of ['main', 'dev', 'main', 'main']) await writer.move('one', ref);
  await writer.move('two', 'main');
}

const never = 3_600_000;
const kinds = [
  { clearAfterMs: 0, comparesValues: false },
  { clearAfterMs: never, comparesValues: false },
  { clearAfterMs: never, comparesValues: true },
];

/** Drivers that compare values tell the predicate of what they have just written. */
function withPredicates(kv: KvStore, store: KvStore, comparesValues: boolean): KvStore {
  const predicateOf = store.predicateOf?.bind(store);
  return comparesValues && predicateOf !== undefined ? { ...kv, predicateOf } : kv;
}

test.each(kinds)(
  'a keeper killed at any step loses nothing, repeats nothing and keeps the order of every ref ($clearAfterMs, $comparesValues)',
  async ({ clearAfterMs, comparesValues }) => {
    let crashes = 0;
    for (let moment = 0; ; moment += 1) {
      const kv = createMemStore(new MemState());
      const writer = new Writer(kv);
      const source = sourceOf(repositories);
      await writeSome(writer);
      await drain(kv, source);
      await writeSome(writer);
      const killer = killedAt(moment);
      try {
        const stepped = withPredicates(steppedKv(kv, killer.step), kv, comparesValues);
        const term = await termOf(stepped, source, clearAfterMs);
        for (let rounds = 0; rounds < 3; rounds += 1) {
          await term.round(partitions);
          await writeSome(writer);
        }
        await term.round(partitions);
        await term.clear();
      } catch (error) {
        expect(error).toBeInstanceOf(Killed);
      }
      if (!killer.wasReached()) break;
      crashes += 1;
      // What happens between the two keepers must not be mixed up with what the first one left.
      await writeSome(writer);
      await drain(kv, source);
      const events = await readLog(kv);
      expect(new Set(events.map(({ id }) => id.toString('hex'))).size).toBe(events.length);
      expect(replay(events)).toEqual(writer.history);
      expect(await outboxOf(kv)).toEqual([]);
      // Staging of every move was handed to the cleaner at least once.
      const tokens = [...writer.history].flatMap(([name, texts]) => texts.map((text) => `${name}:${text}`));
      expect(new Set(source.retired)).toEqual(new Set(tokens));
    }
    expect(crashes).toBeGreaterThan(20);
  },
);

/** Lets one of several processes take one step at a time, in an order that a number stands for. */
class Turns {
  readonly #waiting: (() => void)[] = [];
  #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  readonly step: Step = () => new Promise((resolve) => this.#waiting.push(resolve));

  async play(done: Promise<unknown>): Promise<void> {
    const over = new AbortController();
    void done.finally(() => over.abort());
    while (!over.signal.aborted) {
      // Everybody who can go on has come to the next step.
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#waiting.length === 0) continue;
      this.#seed = (this.#seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      const [next] = this.#waiting.splice((this.#seed >> 8) % this.#waiting.length, 1);
      next?.();
    }
  }
}

test.each(kinds)(
  'two keepers at once and writers between their steps: no gap, no repetition, nothing out of order ($clearAfterMs, $comparesValues)',
  async ({ clearAfterMs, comparesValues }) => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const kv = createMemStore(new MemState());
      const writer = new Writer(kv);
      const source = sourceOf(repositories);
      const turns = new Turns(seed);
      await writeSome(writer);
      const keep = async (): Promise<void> => {
        const stepped = withPredicates(steppedKv(kv, turns.step), kv, comparesValues);
        for (let terms = 0; terms < 2; terms += 1) {
          const term = await termOf(stepped, source, clearAfterMs);
          for (let rounds = 0; rounds < 2; rounds += 1) {
            if ((await term.round(partitions)) === undefined) break;
          }
        }
      };
      const write = async (): Promise<void> => {
        const stepped = new Writer(steppedKv(kv, turns.step));
        for (const ref of ['x', 'y', 'x', 'x', 'y']) await stepped.move('one', ref);
        for (const [name, texts] of stepped.history) writer.history.set(name, texts);
      };
      await turns.play(Promise.all([keep(), keep(), write()]));
      await drain(kv, source);
      const events = await readLog(kv);
      expect(replay(events), `seed ${seed}`).toEqual(writer.history);
      expect(new Set(events.map(({ id }) => id.toString('hex'))).size).toBe(events.length);
    }
  },
);

test('a paused keeper appends nothing once another one has', async () => {
  const kv = createMemStore(new MemState());
  const writer = new Writer(kv);
  const source = sourceOf(repositories);
  await writer.move('one', 'main');
  const paused = await termOf(kv, source);
  await drain(kv, source);
  await writer.move('one', 'main');
  expect(await paused.round(partitions)).toBeUndefined();
  expect(await readLog(kv)).toHaveLength(1);
});

test('many events make several segments, found from any number', async () => {
  const kv = createMemStore(new MemState());
  const writer = new Writer(kv);
  const source = sourceOf(repositories);
  for (let count = 0; count < 2500; count += 1)
    await writer.move(count % 3 === 0 ? 'two' : 'one', `b${count % 7}`);
  await drain(kv, source);
  await writer.move('one', 'last');
  await drain(kv, source);
  expect(replay(await readLog(kv))).toEqual(writer.history);
  const log = new EventLog(kv);
  const { next } = await log.tail();
  expect(next).toBe(2502);
  for (const sequence of [2501, 1, 1999, 2000, 2001, 1234]) {
    const segment = await log.segmentWith(sequence);
    expect(segment !== undefined && segment.first <= sequence && sequence < segment.next).toBe(true);
  }
  expect(await log.segmentWith(2502)).toBeUndefined();
});

test('old segments go, whole and the oldest first, and the last one stays', async () => {
  const kv = createMemStore(new MemState());
  const writer = new Writer(kv);
  const source = sourceOf(repositories);
  for (let round = 0; round < 4; round += 1) {
    await writeSome(writer);
    await drain(kv, source);
  }
  const log = new EventLog(kv);
  const trim = (retentionMs: number, maxBytes: number): Promise<void> =>
    trimEvents(kv, log, {
      retentionMs,
      maxBytes,
      now: Date.now() + 1000,
      mayGoOn: () => Promise.resolve(true),
    });
  await trim(60_000, 1e9);
  expect(await log.oldest()).toBe(1);
  const { bytes } = await log.tail();
  await trim(60_000, bytes - 1);
  expect(await log.oldest()).toBe(6);
  await expect(log.checkCursor(4)).rejects.toMatchObject({ kind: 'gone', oldest: 6 });
  expect(await log.checkCursor(5)).toBe(21);
  await trim(1, 1e9);
  expect(await log.oldest()).toBe(16);
  await expect(log.checkCursor(21)).rejects.toMatchObject({
    kind: 'gone',
    message: 'cursor is ahead of this log',
  });
});

test('segments whose events are still in outboxes stay, however old', async () => {
  const kv = createMemStore(new MemState());
  const writer = new Writer(kv);
  const term = await termOf(kv, sourceOf(repositories), never);
  const trim = (): Promise<void> =>
    trimEvents(kv, new EventLog(kv), {
      retentionMs: 1,
      maxBytes: 1,
      now: Date.now() + 1000,
      mayGoOn: () => Promise.resolve(true),
    });
  for (let round = 0; round < 3; round += 1) {
    await writeSome(writer);
    await term.round(partitions);
  }
  await trim();
  expect(await new EventLog(kv).oldest()).toBe(1);
  await term.clear();
  await writeSome(writer);
  await term.round(partitions);
  await trim();
  expect(await new EventLog(kv).oldest()).toBe(16);
});

test('readers are told of events that are in the log, before the outboxes are cleared', async () => {
  const kv = createMemStore(new MemState());
  await writeSome(new Writer(kv));
  const waiting: string[][] = [];
  const deleteMany: KvStore['deleteMany'] = async (partition, keys) => {
    waiting.push(await outboxOf(kv));
    await kv.deleteMany(partition, keys);
  };
  const told: (readonly [number, number])[] = [];
  const term = await KeeperTerm.begin({
    kv: { ...steppedKv(kv, () => undefined), deleteMany },
    source: sourceOf(repositories),
    logger: silent,
    clock: Date.now,
    onAppended: (next) => told.push([next, waiting.length]),
  });
  await term.round(partitions);
  expect(told).toEqual([[6, 0]]);
  expect(waiting[0]).toHaveLength(5);
});

test('a hint is enough: of two keepers one works at a time, and the other takes over', async () => {
  const kv = createMemStore(new MemState());
  const writer = new Writer(kv);
  const source = sourceOf(repositories);
  const appended: string[] = [];
  let told = Promise.withResolvers<void>();
  const keeperNamed = (name: string): Keeper =>
    new Keeper({
      kv,
      source,
      logger: silent,
      isShared: true,
      onAppended: () => {
        appended.push(name);
        told.resolve();
      },
    });
  const [first, second] = [keeperNamed('first'), keeperNamed('second')];
  first.start();
  const happens = async (keeper: Keeper): Promise<void> => {
    told = Promise.withResolvers<void>();
    await writer.move('one', 'main');
    keeper.hint([partitionOf('one')]);
    await told.promise;
  };
  await happens(first);
  second.start();
  // The one that does not keep the log passes the hint on through the store.
  await happens(second);
  await first.close();
  await happens(second);
  await second.close();
  expect(new Set(appended)).toEqual(new Set(['first', 'second']));
  expect(replay(await readLog(kv))).toEqual(writer.history);
});

test('of what follows a hint the only server need not be told', async () => {
  const kv = createMemStore(new MemState());
  const writer = new Writer(kv);
  let told = Promise.withResolvers<void>();
  const onAppended = (): void => told.resolve();
  const keeper = new Keeper({
    kv,
    source: sourceOf(repositories),
    logger: silent,
    isShared: false,
    onAppended,
  });
  keeper.start();
  await writer.move('one', 'main');
  keeper.hint([partitionOf('one')]);
  await told.promise;
  told = Promise.withResolvers<void>();
  await writer.move('one', 'main');
  await told.promise;
  await keeper.close();
  expect(replay(await readLog(kv))).toEqual(writer.history);
});

test('a move of a known repository costs two reads and one write, however many servers there may be', async () => {
  const kv = createMemStore(new MemState());
  const writer = new Writer(kv);
  const calls: string[] = [];
  const told: (() => void)[] = [];
  const keeper = new Keeper({
    kv: withPredicates(
      namedCalls(
        steppedKv(kv, () => undefined),
        calls,
      ),
      kv,
      true,
    ),
    source: sourceOf(repositories),
    logger: silent,
    isShared: true,
    onAppended: () => told.splice(0).forEach((tell) => tell()),
  });
  keeper.start();
  const happens = async (): Promise<void> => {
    const seen = new Promise<void>((resolve) => told.push(resolve));
    await writer.move('one', 'main');
    keeper.hint([partitionOf('one')]);
    await seen;
  };
  await happens();
  calls.length = 0;
  await happens();
  expect(calls).toEqual([`scan ${partitionOf('one')}`, `getMany ${partitionOf('one')}`, 'change events']);
  await keeper.close();
  expect(await outboxOf(kv)).toEqual([]);
  expect(replay(await readLog(kv))).toEqual(writer.history);
});

test('entries that only wait to be cleared are not taken for more to do', async () => {
  const kv = createMemStore(new MemState());
  const writer = new Writer(kv);
  const term = await termOf(kv, sourceOf(repositories), never);
  for (let moves = 0; moves < 150; moves += 1) {
    await writer.move('one', 'main');
    await term.round(partitions);
    expect(await term.round(partitions)).toMatchObject({ found: 0, unfinished: [] });
  }
});

test('a repository that is only being made is not told of', async () => {
  const kv = createMemStore(new MemState());
  const writer = new Writer(kv);
  let isThere = false;
  const told: (() => void)[] = [];
  const source = { ...sourceOf(repositories), isThere: () => Promise.resolve(isThere) };
  const keeper = new Keeper({
    kv,
    source,
    logger: silent,
    isShared: false,
    onAppended: () => told.splice(0).forEach((tell) => tell()),
  });
  const next = (): Promise<void> => new Promise((resolve) => told.push(resolve));
  await writer.move('one', 'main');
  keeper.start();
  let seen = next();
  await writer.tell('graveler', 'svc.protection.changed', '');
  keeper.hint(['graveler']);
  await seen;
  expect((await readLog(kv)).map(({ type }) => type)).toEqual(['svc.protection.changed']);
  isThere = true;
  seen = next();
  await writer.tell('graveler', 'svc.protection.changed', '');
  keeper.hint(['graveler']);
  await seen;
  await keeper.close();
  expect((await readLog(kv)).map(({ type }) => type)).toEqual([
    'svc.protection.changed',
    'svc.protection.changed',
    'svc.branch.created',
  ]);
});
