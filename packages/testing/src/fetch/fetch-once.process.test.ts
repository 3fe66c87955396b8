import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { lutimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { tempDir } from '../temp-dir.ts';
import { UnavailableError } from '../unavailable-error.ts';
import { cacheDir } from './cache-dir.ts';
import { fetchOnce } from './fetch-once.ts';

beforeEach(() => {
  vi.stubEnv('XDG_CACHE_HOME', tempDir('svc-cache'));
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const install = (name: string) => (folder: string) => {
  writeFileSync(join(folder, name), '');
  return Promise.resolve();
};

const contents = (folder: string): string[] => readdirSync(folder).toSorted();

/** Holds an installation after its first file until it is let go on. */
function heldInstall(): {
  install: (folder: string) => Promise<void>;
  begun: Promise<void>;
  goOn: () => void;
} {
  const begun = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  return {
    begun: begun.promise,
    goOn: gate.resolve,
    async install(folder) {
      await install('first')(folder);
      begun.resolve();
      await gate.promise;
      await install('second')(folder);
    },
  };
}

test('who asks while it is being fetched waits and gets the same', async () => {
  const held = heldInstall();
  const first = fetchOnce('tool', 'a tool', held.install);
  await held.begun;
  const never = vi.fn<(folder: string) => Promise<void>>(install('other'));
  const second = fetchOnce('tool', 'a tool', never);
  held.goOn();
  const folder = await first;
  expect(await second).toBe(folder);
  expect(await fetchOnce('tool', 'a tool', never)).toBe(folder);
  expect(contents(folder)).toEqual(['.complete', 'first', 'second']);
  expect(never).not.toHaveBeenCalled();
});

test('a failure leaves nothing, and the next one who asks tries again', async () => {
  const failing = fetchOnce('tool', 'a tool', async (folder) => {
    await install('half')(folder);
    throw new Error('no route');
  });
  await expect(failing).rejects.toThrow(new UnavailableError('fetching a tool failed: no route'));
  expect(contents(cacheDir())).toEqual([]);
  expect(contents(await fetchOnce('tool', 'a tool', install('whole')))).toEqual(['.complete', 'whole']);
});

test('what a killed process has begun is thrown away and fetched anew', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../test/fetch-forever.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), ended]);
  child.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(contents(await fetchOnce('tool', 'a tool', install('whole')))).toEqual(['.complete', 'whole']);
  // The finished one and the name that leads to it.
  expect(contents(cacheDir())).toHaveLength(2);
});

test('an attempt that was overtaken does not touch what has been finished meanwhile', async () => {
  const held = heldInstall();
  const overtaken = fetchOnce('tool', 'a tool', held.install);
  await held.begun;
  await lutimes(join(cacheDir(), 'tool.owner'), 0, 0);
  const folder = await fetchOnce('tool', 'a tool', install('whole'));
  expect(contents(folder)).toEqual(['.complete', 'whole']);
  held.goOn();
  expect(await overtaken).toBe(folder);
  expect(contents(folder)).toEqual(['.complete', 'whole']);
});
