import { setTimeout as delay } from 'node:timers/promises';
import { startFaultProxy, type Fate } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KvError, type KvErrorKind } from '../../src/errors.ts';
import type { KvStore, KvWrite } from '../../src/store.ts';
import { everyDriver } from './drivers.ts';
import { TcpFaultProxy, type TcpFate } from './tcp-fault-proxy.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const partition = bytes('faults');

/** Two entries that are made together. */
function pair(name: string): KvWrite[] {
  return ['a', 'b'].map((half) => ({ type: 'create', key: bytes(`${name}/${half}`), value: bytes(name) }));
}

/** How many entries of a pair are there. */
async function halves(store: KvStore, name: string): Promise<number> {
  const found = await store.getMany(partition, [bytes(`${name}/a`), bytes(`${name}/b`)]);
  return found.filter((entry) => entry !== undefined).length;
}

const everyCall: Readonly<Record<string, (store: KvStore, name: string) => Promise<unknown>>> = {
  get: (store) => store.get(partition, bytes('kept')),
  set: (store, name) => store.set(partition, bytes(`${name}/set`), bytes(name)),
  setIf: (store, name) => store.setIf(partition, bytes(`${name}/if`), bytes(name), 'absent'),
  change: (store, name) =>
    store.change(partition, { key: bytes(`${name}/a`), condition: 'absent' }, pair(name)),
  setMany: (store, name) => store.setMany(partition, [{ key: bytes(`${name}/many`), value: bytes(name) }]),
  scan: (store) => store.scan(partition).next(),
};

async function refusalOf(call: Promise<unknown>): Promise<KvError> {
  const outcome = await call.then(
    (value) => value,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(KvError);
  return outcome as KvError;
}

/** While a server is like this, every call fails and may be made again later. */
const passing: readonly {
  readonly fate: TcpFate;
  readonly cause: RegExp;
  readonly kinds?: readonly KvErrorKind[];
}[] = [
  { fate: 'refuse', cause: /ECONNREFUSED|terminated/ },
  { fate: 'drop', cause: /terminated|ECONNRESET|UND_ERR_SOCKET|closed/i },
  { fate: 'lose answer', cause: /terminated|ECONNRESET|UND_ERR_SOCKET|closed/i },
  { fate: 'cut answer', cause: /terminated|ECONNRESET|UND_ERR|closed|HPE_/i },
  // Where connections are few, some calls do not even get one.
  { fate: 'silence', cause: /timeout|is busy/i, kinds: ['unavailable', 'slow_down'] },
];

describe.each(await everyDriver())('faults of the server of $name', (driver) => {
  let proxy: TcpFaultProxy;
  let store: KvStore;
  beforeAll(async () => {
    proxy = await TcpFaultProxy.before(driver.address);
    store = await driver.open(proxy.inFrontOf(driver.address));
    await store.set(partition, bytes('kept'), bytes('kept'));
  });
  afterAll(async () => {
    await store.close();
    await proxy.close();
  });

  const expectKept = async (): Promise<void> =>
    expect((await store.get(partition, bytes('kept')))?.value).toEqual(bytes('kept'));

  test.each(passing)('"$fate" is an error that may pass, and nothing is lost or half done', async (row) => {
    const name = row.fate;
    await proxy.become(row.fate);
    const refusals = await Promise.all(Object.values(everyCall).map((call) => refusalOf(call(store, name))));
    for (const { kind, retryable, message } of refusals) {
      expect(row.kinds ?? ['unavailable']).toContain(kind);
      expect(retryable).toBe(true);
      expect(message).toMatch(row.cause);
      expect(message).not.toContain(driver.secret);
    }
    await proxy.become('pass');
    await expectKept();
    expect([0, 2]).toContain(await halves(store, name));
    // Whether they took effect is not known, but making them again leads to the same end.
    for (const call of Object.values(everyCall)) await call(store, name);
    expect(await halves(store, name)).toBe(2);
    for (const key of ['set', 'if', 'many'])
      expect((await store.get(partition, bytes(`${name}/${key}`)))?.value).toEqual(bytes(name));
  });

  test('slow answers are waited for', async () => {
    await proxy.become('slow');
    for (const call of Object.values(everyCall)) await call(store, 'slow');
    expect(await halves(store, 'slow')).toBe(2);
    await proxy.become('pass');
  });

  test('nothing acknowledged is lost under load while faults come and go', async () => {
    const acknowledged: string[] = [];
    let [over, failures] = [false, 0];
    const writer = async (lane: number): Promise<void> => {
      for (let index = 0; !over; index++) {
        const name = `load/${lane}-${index}`;
        try {
          if (await everyCall['change']?.(store, name)) acknowledged.push(name);
        } catch (error) {
          expect(error).toMatchObject({ retryable: true });
          failures++;
        }
      }
    };
    const writers = Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(writer));
    const fates: TcpFate[] = ['drop', 'pass', 'lose answer', 'pass', 'cut answer', 'pass', 'refuse', 'pass'];
    for (const fate of [...fates, ...fates]) {
      await proxy.become(fate);
      const enough = acknowledged.length + 20;
      if (fate === 'pass')
        await expect.poll(() => acknowledged.length, { timeout: 60_000 }).toBeGreaterThan(enough);
      else await delay(50);
    }
    over = true;
    await writers;
    expect(failures).toBeGreaterThan(0);
    for (const name of acknowledged) expect([name, await halves(store, name)]).toEqual([name, 2]);
  });

  describe('at the start', () => {
    const refusedStart = async (
      opening: Promise<KvStore>,
      kind: KvErrorKind,
      cause: RegExp,
    ): Promise<void> => {
      const refusal = await refusalOf(opening);
      expect(refusal.kind).toBe(kind);
      expect(refusal.message).toMatch(cause);
      expect(refusal.message).not.toContain(driver.secret);
    };

    test('a server that is not there is named, with what to check', async () => {
      const nobody = new URL(driver.address);
      nobody.host = '127.0.0.1:1';
      await refusedStart(
        driver.open(nobody.href),
        'connect_failed',
        /127\.0\.0\.1:1\b.*ECONNREFUSED.*; check /,
      );
    });

    test('a server that comes a little later is waited for', async () => {
      const late = await TcpFaultProxy.before(driver.address);
      await late.become('refuse');
      const opening = driver.open(late.inFrontOf(driver.address), 10);
      // Reported below.
      opening.catch(() => undefined);
      await delay(1000);
      await late.become('pass');
      const opened = await opening;
      expect((await opened.get(partition, bytes('kept')))?.value).toEqual(bytes('kept'));
      await opened.close();
      await late.close();
    });

    test('somebody the server does not know is told so, and no secret', async () => {
      await refusedStart(driver.openAsStranger(), 'connect_failed', /; check /);
    });
  });

  describe.runIf(driver.http !== undefined)('answers instead of the service', () => {
    let fate: Fate = 'pass';
    const opened = async (): Promise<{ store: KvStore; close(): Promise<void> }> => {
      fate = 'pass';
      const http = await startFaultProxy(driver.address, () => fate);
      const through = await driver.open(http.endpoint);
      return {
        store: through,
        async close() {
          await through.close();
          await http.close();
        },
      };
    };

    test.each([
      { storm: 'throttling', kind: 'slow_down' },
      { storm: '503', kind: 'unavailable' },
      { storm: '500', kind: 'unavailable' },
    ])(
      'a storm of $storm asks to come back later, and calls work when it is over',
      async ({ storm, kind }) => {
        const through = await opened();
        fate = storm === 'throttling' ? (driver.http?.throttled ?? 'pass') : { status: Number(storm) };
        for (const call of Object.values(everyCall))
          expect(await refusalOf(call(through.store, storm))).toMatchObject({ kind, retryable: true });
        fate = 'pass';
        for (const call of Object.values(everyCall)) await call(through.store, storm);
        expect(await halves(through.store, storm)).toBe(2);
        await through.close();
      },
    );

    test('a clock that the service does not accept is an error that says what to check', async () => {
      const through = await opened();
      const ahead = new Date(Date.now() + 3_600_000).toUTCString();
      fate = {
        ...driver.http?.wrongClock,
        status: driver.http?.wrongClock.status ?? 0,
        headers: { date: ahead },
      };
      const refusal = await refusalOf(through.store.set(partition, bytes('clock'), bytes('1')));
      expect(refusal.kind).toBe('driver_configuration');
      expect(refusal.message).toMatch(/; check /);
      fate = 'pass';
      await through.store.set(partition, bytes('clock'), bytes('2'));
      expect((await through.store.get(partition, bytes('clock')))?.value).toEqual(bytes('2'));
      await through.close();
    });
  });

  test.runIf(driver.openCrowded !== undefined)(
    'a server that takes no more connections asks to come back later, and nothing is lost',
    async () => {
      const crowded = await driver.openCrowded?.();
      if (crowded === undefined) return;
      const names = Array.from({ length: 16 }, (_, index) => `crowded/${index}`);
      const outcomes = await Promise.allSettled(
        names.map((name) => crowded.set(bytes(name), bytes('k'), bytes(name))),
      );
      const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refused).not.toEqual([]);
      for (const { reason } of refused) expect(reason).toMatchObject({ kind: 'slow_down', retryable: true });
      for (const [index, name] of names.entries()) {
        if (outcomes[index]?.status === 'rejected') await crowded.set(bytes(name), bytes('k'), bytes(name));
        expect((await store.get(bytes(name), bytes('k')))?.value).toEqual(bytes(name));
      }
      await crowded.close();
    },
  );

  // The last one: nothing is left after it.
  test('a table that is removed under the server is named in every answer', async () => {
    await driver.removeTable();
    for (const call of Object.values(everyCall))
      expect((await refusalOf(call(store, 'gone'))).message).toMatch(/is gone|is missing/);
  });
});
