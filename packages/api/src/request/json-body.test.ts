import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { HeldMemory } from '@svc/http';
import { describe, expect, test } from 'vitest';
import { readBytes, readJsonBody } from './json-body.ts';

const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };

/** Memory with room for that many bytes. */
function memoryOf(room: number) {
  const memory = {
    room,
    take: (bytes: number) => bytes <= memory.room && ((memory.room -= bytes), true),
    release: (bytes: number) => void (memory.room += bytes),
  };
  return memory;
}

function limits(maxBytes = 1024, memory = memoryOf(1024)) {
  return { maxBytes, memory: new HeldMemory(memory) };
}

/** A request of which everything has arrived before it is read. */
function arrived(pieces: readonly string[]): IncomingMessage {
  const message = new Readable({ read: () => undefined });
  for (const piece of pieces) message.push(Buffer.from(piece));
  message.push(null);
  return Object.assign(message, { complete: true, headers }) as unknown as IncomingMessage;
}

function arriving(pieces: readonly string[]): IncomingMessage {
  const message = Readable.from(pieces.map((piece) => Buffer.from(piece)));
  return Object.assign(message, { complete: false, headers }) as unknown as IncomingMessage;
}

describe.each([
  ['arrived before it is read', arrived],
  ['is still arriving', arriving],
])('a body that %s', (_, requestOf) => {
  test('is read whole, in however many pieces it came', async () => {
    for (const pieces of [['{"a":1}'], ['{"a"', ':1}'], '{"a":1}'.split('')])
      expect(await readJsonBody(requestOf(pieces), true, limits())).toEqual({ a: 1 });
  });

  test('may be missing', async () => {
    expect(await readJsonBody(requestOf([]), false, limits())).toBeUndefined();
    await expect(readJsonBody(requestOf([]), true, limits())).rejects.toThrow(
      'value is required but missing',
    );
  });

  test('is refused when it is longer than allowed', async () => {
    expect(String(await readBytes(requestOf(['1234', '5']), limits(5)))).toBe('12345');
    await expect(readBytes(requestOf(['1234', '56']), limits(5))).rejects.toMatchObject({ status: 413 });
  });

  test('holds its bytes of the shared memory until its request ends, and is refused where there are none', async () => {
    const memory = memoryOf(8);
    const first = limits(100, memory);
    const second = limits(100, memory);
    expect(String(await readBytes(requestOf(['1234', '5']), first))).toBe('12345');
    expect(memory.room).toBe(3);
    await expect(readBytes(requestOf(['12', '34']), second)).rejects.toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
    });
    second.memory.release();
    first.memory.release();
    expect(memory.room).toBe(8);
    expect(String(await readBytes(requestOf(['12', '34']), second))).toBe('1234');
  });

  test.each([
    ['deep lists', `${'['.repeat(65)}${']'.repeat(65)}`, 'nested deeper than 64 levels'],
    ['deep objects', `${'{"a":'.repeat(65)}1${'}'.repeat(65)}`, 'nested deeper than 64 levels'],
    ['many values', `[${'1,'.repeat(50_000)}1]`, 'more than 50000 values'],
    ['many empty objects', `[${'{},'.repeat(30_000)}1]`, 'more than 50000 values'],
    ['many names', `{${'"a":1,'.repeat(50_000)}"b":1}`, 'more than 50000 values'],
  ])('is refused unparsed for %s', async (_, text, problem) => {
    const reading = readJsonBody(requestOf([text]), true, limits(1e6, memoryOf(1e6)));
    await expect(reading).rejects.toThrow(`request body has an error: ${problem}`);
  });

  test('may hold any brackets and commas in its strings', async () => {
    const value = { a: `${'[{,'.repeat(100_000)}"\\` };
    const text = JSON.stringify(value);
    expect(await readJsonBody(requestOf([text]), true, limits(1e6, memoryOf(1e6)))).toEqual(value);
  });

  test('costs little more memory than its bytes in however small pieces', async () => {
    const pieces = Array.from({ length: 5000 }, (_, n) => String(n % 10));
    const bytes = await readBytes(requestOf(pieces), limits(5000, memoryOf(5000)));
    expect(String(bytes)).toBe(pieces.join(''));
  });
});

test('a request whose client has gone is not read', async () => {
  const request = arrived(['{}']);
  request.destroy();
  await expect(readBytes(request, limits(5))).rejects.toMatchObject({ status: 499 });
});
