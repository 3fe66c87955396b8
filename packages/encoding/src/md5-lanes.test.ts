import { createHash, hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { Md5Lanes, type Md5Message } from './md5-lanes.ts';
import { md5Source } from './md5-wasm.ts';

/** Digests the messages side by side; an error is told by its message. */
function digests(messages: readonly Buffer[], lanes = new Md5Lanes()): string[] {
  const found: string[] = [];
  const waiting = messages.map((bytes, index) => message(bytes, (text) => (found[index] = text)));
  lanes.digest(() => waiting.shift());
  return found;
}

function message(bytes: Buffer, done: (text: string) => void): Md5Message {
  return {
    size: bytes.length,
    read(target, position) {
      if (bytes.subarray(position).copy(target) < target.length) throw new Error('too short');
    },
    done: (md5, error) => done(md5 ?? (error as Error).message),
  };
}

/** Bytes that say where they are and of which message. */
function bytesOf(size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  for (let at = 0; at < size; at += 1) bytes[at] = (at * 151 + (at >> 8) + size) & 0xff;
  return bytes;
}

describe('Md5Lanes', () => {
  it('is compiled from the source beside it', () => {
    const source = readFileSync(new URL('../wasm/md5.as', import.meta.url));
    expect(createHash('sha256').update(source).digest('hex'), 'run scripts/build-wasm.ts').toBe(md5Source);
  });

  it('agrees with the platform at every length around the ends of blocks and windows', () => {
    const around = [64, 128, 65_536, 131_072].flatMap((end) =>
      Array.from({ length: 20 }, (_, n) => end - 10 + n),
    );
    const messages = [...Array.from({ length: 70 }, (_, size) => size), ...around].map(bytesOf);
    expect(digests(messages)).toEqual(messages.map((bytes) => hash('md5', bytes)));
  });

  it.each([1, 2, 7, 8, 9, 30])('keeps %i messages of many lengths apart, again and again', (count) => {
    const lanes = new Md5Lanes();
    for (let round = 0; round < 3; round += 1) {
      const messages = Array.from({ length: count }, (_, n) => bytesOf(((n * 7919 + round) % 40) * 5000 + n));
      expect(digests(messages, lanes)).toEqual(messages.map((bytes) => hash('md5', bytes)));
    }
  });

  it('goes on with the others when one cannot be read, at its beginning or later', () => {
    const messages = Array.from({ length: 12 }, (_, n) => bytesOf(100_000 + n));
    const found: string[] = [];
    const waiting = messages.map((bytes, n) => ({
      ...message(n % 3 === 1 ? bytes.subarray(0, n * 10_000) : bytes, (text) => (found[n] = text)),
      size: bytes.length,
    }));
    new Md5Lanes().digest(() => waiting.shift());
    expect(found).toEqual(messages.map((bytes, n) => (n % 3 === 1 ? 'too short' : hash('md5', bytes))));
  });

  it('takes messages that come while it works', () => {
    const messages = Array.from({ length: 5 }, (_, n) => bytesOf(200_000 + n * 64));
    const found: string[] = [];
    const waiting: Md5Message[] = [];
    const add = (n: number): void => {
      const bytes = messages[n];
      if (bytes === undefined) return;
      waiting.push(
        message(bytes, (text) => {
          found[n] = text;
          add(n + 1);
        }),
      );
    };
    add(0);
    new Md5Lanes().digest(() => waiting.shift());
    expect(found).toEqual(messages.map((bytes) => hash('md5', bytes)));
  });
});
