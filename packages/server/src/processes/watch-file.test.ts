import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { tempDir } from '@svc/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { FileWatch } from './watch-file.ts';

const patience = { timeout: 10_000, interval: 50 };
let watch: FileWatch | undefined;
afterEach(() => watch?.stop());

test('a change between reading a file and starting to watch it is told', async () => {
  const file = join(tempDir(), 'config.yaml');
  writeFileSync(file, 'one');
  watch = new FileWatch(file);
  writeFileSync(file, 'another');
  let changes = 0;
  watch.start(() => changes++);
  await vi.waitFor(() => expect(changes).toBe(1), patience);
  await delay(1200);
  expect(changes).toBe(1);
});

test('a file that cannot be looked at is told once it can be', async () => {
  const folder = tempDir();
  writeFileSync(join(folder, 'taken'), 'a file, not a folder');
  watch = new FileWatch(join(folder, 'taken', 'cert.pem'));
  let changes = 0;
  watch.start(() => changes++);
  rmSync(join(folder, 'taken'));
  mkdirSync(join(folder, 'taken'));
  writeFileSync(join(folder, 'taken', 'cert.pem'), 'there');
  await vi.waitFor(() => expect(changes).toBe(1), patience);
});

test('a link that leads elsewhere and a file that was away are told once they are there', async () => {
  const folder = tempDir();
  const [one, two, link] = ['one', 'two', 'link'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(one, 'same');
  writeFileSync(two, 'same');
  symlinkSync(one, link);
  watch = new FileWatch(link);
  let changes = 0;
  watch.start(() => changes++);
  symlinkSync(two, `${link}-next`);
  renameSync(`${link}-next`, link);
  await vi.waitFor(() => expect(changes).toBe(1), patience);
  rmSync(two);
  await delay(1200);
  expect(changes).toBe(1);
  writeFileSync(two, 'another');
  await vi.waitFor(() => expect(changes).toBe(2), patience);
  watch.stop();
  writeFileSync(two, 'yet another');
  await delay(1200);
  expect(changes).toBe(2);
});
