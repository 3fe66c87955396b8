import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { tempDir } from '@svc/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { nextLine, startChild, type Child } from '../../test/child.ts';
import { crashRounds } from '../../test/crash-rounds.ts';
import { KvError } from '../errors.ts';
import { lockLocalStore } from '../index.ts';
import { openLocalStore } from './local.ts';
import { openGate } from './local/opening-gate.ts';

const children: Child[] = [];
const start = (program: string, ...args: string[]): Child => {
  const child = startChild(program, ...args);
  children.push(child);
  return child;
};
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.process.kill('SIGKILL');
    await child.ended;
  }
});

describe('processes sharing one local store', () => {
  test('rounds of kill -9 lose nothing acknowledged and never stall the other process', async () => {
    const result = await crashRounds({ path: tempDir('svc-kv-crash'), rounds: 8, acknowledgements: 200 });
    expect(result.acknowledged).toBeGreaterThan(8 * 200);
    expect(result.lost).toEqual([]);
    expect(result.survivorSlowestMs).toBeLessThan(30_000);
  });

  test('a change is whole or absent after kill -9, and whole when it was acknowledged', async () => {
    const path = tempDir('svc-kv-change-crash');
    const acknowledged: string[] = [];
    const survivor = start('change-forever.ts', path, 'survivor');
    survivor.lines.on('line', (line: string) => acknowledged.push(line));
    for (let round = 0; round < 8; round++) {
      const victim = start('change-forever.ts', path, `victim${round}`);
      let left = 5 + Math.floor(Math.random() * 30);
      victim.lines.on('line', (line: string) => {
        acknowledged.push(line);
        left--;
        if (left === 0) victim.process.kill('SIGKILL');
      });
      await victim.ended;
    }
    survivor.process.kill('SIGKILL');
    await survivor.ended;
    const store = await openLocalStore({ path, syncWrites: true });
    const parts = new Map<string, number>();
    for await (const page of store.scan(Buffer.from('changes'), { prefix: Buffer.from('part/') })) {
      for (const { key } of page) {
        const change = key.toString().split('/')[1] ?? '';
        parts.set(change, (parts.get(change) ?? 0) + 1);
      }
    }
    expect([...parts.values()].filter((count) => count !== 19)).toEqual([]);
    expect(acknowledged.filter((change) => !parts.has(change))).toEqual([]);
    for (let lane = 0; lane < 8; lane++) {
      const head = await store.get(Buffer.from('changes'), Buffer.from(`head/${lane}`));
      expect(parts.has(head?.value.toString() ?? '')).toBe(true);
    }
    await store.close();
  });

  test('two processes with 2000 compare-and-set increments each reach exactly 4000', async () => {
    const path = tempDir('svc-kv-counter');
    const pair = [start('increment.ts', path, '2000', '8'), start('increment.ts', path, '2000', '8')];
    await Promise.all(pair.map(nextLine));
    for (const child of pair) child.process.send('go');
    const codes = await Promise.all(pair.map((child) => child.ended));
    expect(codes).toEqual([
      [0, null],
      [0, null],
    ]);
    const store = await openLocalStore({ path, syncWrites: true });
    expect((await store.get(Buffer.from('counters'), Buffer.from('counter')))?.value.toString()).toBe('4000');
    await store.close();
  });

  test('a write another process has acknowledged is seen by the very next read', async () => {
    const path = tempDir('svc-kv-echo');
    const store = await openLocalStore({ path, syncWrites: true });
    const writer = start('echo-writes.ts', path);
    await nextLine(writer);
    const read = async (): Promise<string | undefined> =>
      (await store.get(Buffer.from('echo'), Buffer.from('k')))?.value.toString();
    for (let value = 0; value < 300; value++) {
      const answer = once(writer.process, 'message');
      writer.process.send(value);
      // Keeps a snapshot from before the write at hand, in case the store would use it.
      const reads = setInterval(() => void read(), 0);
      await answer;
      const scanned: string[] = [];
      for await (const page of store.scan(Buffer.from('echo'))) scanned.push(String(page[0]?.value));
      clearInterval(reads);
      expect([await read(), ...scanned]).toEqual([String(value), String(value)]);
    }
    await store.close();
  });

  test('a store that another process makes grow stays readable', async () => {
    const path = tempDir('svc-kv-grow');
    const store = await openLocalStore({ path, syncWrites: false });
    const partition = Buffer.from('crash');
    expect(await store.get(partition, Buffer.from('grow/0'))).toBeUndefined();
    const writer = start('write-forever.ts', path, 'grow');
    const seen = new Set<string>();
    for await (const line of writer.lines) {
      seen.add(line);
      expect(await store.get(partition, Buffer.from(line))).toBeDefined();
      await store.set(Buffer.from('own'), Buffer.from(line), Buffer.alloc(5000));
      if (seen.size === 800) break;
    }
    let rows = 0;
    for await (const page of store.scan(Buffer.from('own'))) rows += page.length;
    expect(rows).toBe(800);
    await store.close();
  });
});

describe('opening a store that another process writes to', () => {
  test('nothing is written meanwhile, and everything goes on afterwards', async () => {
    const path = tempDir('svc-kv-opening');
    const writer = start('write-forever.ts', path, 'w');
    let acknowledged = 0;
    writer.lines.on('line', () => acknowledged++);
    await nextLine(writer);
    const gate = await openGate(path);
    await gate.whileOpening(async () => {
      // What was acknowledged before may still be on its way here; one that writes on never comes to rest.
      for (let before = -1; before !== acknowledged;) {
        before = acknowledged;
        await delay(300);
      }
    });
    gate.close();
    await nextLine(writer);
  });

  test('a store is opened by one process at a time', async () => {
    const path = tempDir('svc-kv-opening');
    const gate = await openGate(path);
    let opened = false;
    const second = await gate.whileOpening(async () => {
      const opening = openLocalStore({ path, syncWrites: true }).then((store) => {
        opened = true;
        return store;
      });
      await delay(200);
      expect(opened).toBe(false);
      return { opening };
    });
    gate.close();
    await (await second.opening).close();
  });

  test.each(['opening', 'writing'])('a process that is killed while %s holds up nobody', async (role) => {
    const path = tempDir('svc-kv-opening');
    const store = await openLocalStore({ path, syncWrites: true });
    const other = start('hold-gate.ts', path, role);
    expect(await nextLine(other)).toBe('inside');
    const write = store.set(Buffer.from('p'), Buffer.from('k'), Buffer.from('v'));
    const gate = await openGate(path);
    const open = gate.whileOpening(() => undefined);
    let done = 0;
    for (const waiting of [write, open]) void waiting.then(() => done++);
    if (role === 'writing') await write;
    await delay(200);
    expect(done).toBe(role === 'writing' ? 1 : 0);
    other.process.kill('SIGKILL');
    await Promise.all([write, open]);
    gate.close();
    await store.close();
  });

  test('every kind of write waits, and is made with what its buffers held when it was called', async () => {
    const path = tempDir('svc-kv-opening');
    const store = await openLocalStore({ path, syncWrites: true });
    const partition = Buffer.from('p');
    const names = ['set', 'absent', 'deleted', 'same', 'first', 'second', 'gone', 'many', 'left'].map(
      (name) => Buffer.from(name),
    );
    const [set, absent, deleted, same, first, second, gone, many, left] = names as Buffer[] &
      Record<number, Buffer>;
    for (const key of [deleted!, same!, gone!, left!]) await store.set(partition, key, Buffer.from('v'));
    const predicate = (await store.get(partition, same!))!.predicate;
    const value = Buffer.from('value');
    const gate = await openGate(path);
    let done = 0;
    const writes = await gate.whileOpening(async () => {
      const made: Promise<unknown>[] = [
        store.set(partition, set!, value),
        store.setIf(partition, absent!, value, 'absent'),
        store.delete(partition, deleted!),
        store.setIf(partition, same!, value, predicate),
        store.change(partition, { key: second!, condition: 'absent' }, [
          { type: 'create', key: first!, value },
          { type: 'put', key: second!, value },
        ]),
        store.setMany(partition, [{ key: many!, value }]),
        store.deleteMany(partition, [left!]),
        store.deleteIf(partition, gone!, predicate),
      ];
      for (const buffer of [partition, value, ...names]) buffer.fill('x');
      for (const write of made) void write.then(() => done++);
      await delay(100);
      expect(done).toBe(0);
      return { made };
    });
    gate.close();
    await Promise.all(writes.made);
    const found: string[] = [];
    for await (const page of store.scan(Buffer.from('p'))) {
      for (const entry of page) found.push(`${entry.key.toString()}=${entry.value.toString()}`);
    }
    expect(found).toEqual([
      'absent=value',
      'first=value',
      'many=value',
      'same=value',
      'second=value',
      'set=value',
    ]);
    await store.close();
  });
});

describe('the lock of a server on its folder', () => {
  const refusal = async (path: string): Promise<KvError> => {
    try {
      await lockLocalStore(path);
    } catch (error) {
      if (error instanceof KvError) return error;
      throw error;
    }
    throw new Error('the lock was given twice');
  };

  test('a second server is refused with folder and pid, until the first is gone', async () => {
    const path = tempDir('svc-kv-lock');
    const server = start('hold-lock.ts', path);
    expect(await nextLine(server)).toBe('locked');
    expect(await refusal(path)).toMatchObject({
      kind: 'locked',
      message:
        `key-value store ${path} is in use by the server with pid ${server.process.pid}; ` +
        'stop it first, or set database.local.path to another folder',
    });
    const tool = await openLocalStore({ path, syncWrites: true });
    await tool.set(Buffer.from('p'), Buffer.from('k'), Buffer.from('v'));
    await tool.close();
    server.process.kill('SIGKILL');
    await server.ended;
    const lock = await lockLocalStore(path);
    expect((await refusal(path)).message).toContain(`pid ${process.pid};`);
    await lock.release();
    await lock.release();
    await (await lockLocalStore(path)).release();
  });

  test('of several servers starting at once one wins', async () => {
    const path = tempDir('svc-kv-lock');
    const attempts = await Promise.allSettled(Array.from({ length: 5 }, () => lockLocalStore(path)));
    const won = attempts.filter((attempt) => attempt.status === 'fulfilled');
    expect(won).toHaveLength(1);
    await won[0]?.value.release();
  });
});
