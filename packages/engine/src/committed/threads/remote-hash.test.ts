import { EventEmitter } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { RemoteHasher } from './remote-hash.ts';
import type { ToHasher } from './worker-messages.ts';

/** A thread that takes pieces, and gives them back when it is told to. */
class SlowThread extends EventEmitter {
  readonly #taken: ArrayBuffer[] = [];

  postMessage(message: ToHasher): void {
    if (message.type === 'update') this.#taken.push(message.bytes);
  }

  giveBack(): boolean {
    const bytes = this.#taken.shift();
    if (bytes !== undefined) this.emit('message', { type: 'spare', bytes });
    return bytes !== undefined;
  }
}

test('everybody who waits to send is woken', async () => {
  const thread = new SlowThread();
  const hasher = new RemoteHasher(thread as unknown as Worker);
  const hash = hasher.newHash();
  const send = async (): Promise<void> => {
    await hasher.ready();
    hash.update(Buffer.from('piece'), undefined);
  };
  while (!hasher.isBusy) await send();
  let sent = 0;
  const waiting = Array.from({ length: 5 }, async () => {
    await send();
    sent += 1;
  });
  while (sent < waiting.length) {
    const isGoingOn = thread.giveBack();
    await new Promise(setImmediate);
    if (!isGoingOn) break;
  }
  expect(sent).toBe(waiting.length);
});

test('everybody who waits is told that the thread ended', async () => {
  const thread = new SlowThread();
  const hasher = new RemoteHasher(thread as unknown as Worker);
  const hash = hasher.newHash();
  while (!hasher.isBusy) hash.update(Buffer.from('piece'), undefined);
  const waiting = [hasher.ready(), hasher.ready(), hash.digest(Buffer.alloc(0), 0)];
  thread.emit('error', new Error('no memory'));
  for (const each of waiting) await expect(each).rejects.toThrow('no memory');
  await expect(hasher.ready()).rejects.toThrow('no memory');
  await expect(hash.digest(Buffer.alloc(0), 0)).rejects.toThrow('no memory');
});
