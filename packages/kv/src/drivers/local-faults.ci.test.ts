import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SmallDisks, tempDir } from '@svc/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { nextLine, startChild } from '../../test/child.ts';
import { valueOf } from '../../test/value-of.ts';
import { KvError } from '../errors.ts';
import type { KvStore } from '../store.ts';
import { openLocalStore } from './local.ts';

const mebibyte = 1024 * 1024;
const partition = Buffer.from('p');
const disks = new SmallDisks();

afterAll(() => disks.unmountAll());

/** Writes until it is refused; answers what was acknowledged and the refusal. */
async function fill(store: KvStore, lane: number): Promise<{ names: string[]; refusal: unknown }> {
  const names: string[] = [];
  for (let n = 0; ; n++) {
    const name = `${lane}/${n}`;
    try {
      await store.set(partition, Buffer.from(name), Buffer.concat([valueOf(name), Buffer.alloc(4000)]));
      names.push(name);
    } catch (refusal) {
      return { names, refusal };
    }
  }
}

async function expectKept(store: KvStore, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const found = await store.get(partition, Buffer.from(name));
    expect([name, found?.value.subarray(0, 64).equals(valueOf(name))]).toEqual([name, true]);
  }
}

describe('a disk of the local store', () => {
  test('that is full refuses writes, keeps what it acknowledged and goes on once there is room', async (context) => {
    const folder = await disks.mount(320 * mebibyte);
    if (folder === undefined) return context.skip('no small disk here');
    const ballast = join(folder, 'ballast');
    // More than is written in the second that may pass until the store looks at the disk again.
    writeFileSync(ballast, Buffer.alloc(220 * mebibyte));
    const path = join(folder, 'kv');
    let store = await openLocalStore({ path, syncWrites: true });
    const filled = await Promise.all([0, 1, 2, 3].map((lane) => fill(store, lane)));
    for (const { refusal } of filled) {
      expect(refusal).toBeInstanceOf(KvError);
      expect(refusal).toMatchObject({ kind: 'no_space', retryable: true });
      expect((refusal as KvError).message).toMatch(
        /the disk is full .* nothing was written; free some space/,
      );
    }
    const names = filled.flatMap((lane) => lane.names);
    expect(names.length).toBeGreaterThan(100);
    await expectKept(store, names);
    rmSync(ballast);
    // It looks at the disk once a second.
    await expect
      .poll(
        () =>
          store.set(partition, Buffer.from('later'), valueOf('later')).then(
            () => true,
            () => false,
          ),
        {
          timeout: 10_000,
        },
      )
      .toBe(true);
    await store.close();
    store = await openLocalStore({ path, syncWrites: true });
    await expectKept(store, [...names, 'later']);
    await store.close();
  });

  test('that became read-only refuses, says why and loses nothing', async (context) => {
    const folder = await disks.mount(100 * mebibyte);
    if (folder === undefined) return context.skip('no disk to mount here');
    const path = join(folder, 'kv');
    const store = await openLocalStore({ path, syncWrites: true });
    await store.set(partition, Buffer.from('kept'), valueOf('kept'));
    await store.close();
    execFileSync('mount', ['-o', 'remount,ro', folder]);
    await expect(openLocalStore({ path, syncWrites: true })).rejects.toMatchObject({
      kind: 'connect_failed',
      message: expect.stringContaining('the file system is read-only; mount it writable') as string,
    });
    execFileSync('mount', ['-o', 'remount,rw', folder]);
    const again = await openLocalStore({ path, syncWrites: true });
    await expectKept(again, ['kept']);
    await again.close();
  });
});

test.runIf(process.getuid?.() === 0)(
  'a folder of somebody else is refused with what to do, whatever of it is closed',
  async () => {
    const path = tempDir();
    const store = await openLocalStore({ path, syncWrites: true });
    await store.set(partition, Buffer.from('kept'), valueOf('kept'));
    await store.close();
    const openedByNobody = async (): Promise<string> => nextLine(startChild('open-as-nobody.ts', path));
    const advice = `connect_failed: key-value store ${path}: the folder is not writable for this user; change its owner or mode`;
    for (const mode of [0o700, 0o755]) {
      chmodSync(path, mode);
      expect(await openedByNobody()).toContain(advice);
    }
    // The folder is open, its files are not.
    chmodSync(path, 0o777);
    expect(await openedByNobody()).toContain(advice);
    const again = await openLocalStore({ path, syncWrites: true });
    await expectKept(again, ['kept']);
    await again.close();
  },
);
