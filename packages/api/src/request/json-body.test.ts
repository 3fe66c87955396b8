import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { readBytes, readJsonBody } from './json-body.ts';

const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };

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
      expect(await readJsonBody(requestOf(pieces), true)).toEqual({ a: 1 });
  });

  test('may be missing', async () => {
    expect(await readJsonBody(requestOf([]), false)).toBeUndefined();
    await expect(readJsonBody(requestOf([]), true)).rejects.toThrow('value is required but missing');
  });

  test('is refused when it is longer than allowed', async () => {
    expect(String(await readBytes(requestOf(['1234', '5']), 5))).toBe('12345');
    await expect(readBytes(requestOf(['1234', '56']), 5)).rejects.toMatchObject({ status: 413 });
  });
});

test('a request whose client has gone is not read', async () => {
  const request = arrived(['{}']);
  request.destroy();
  await expect(readBytes(request, 5)).rejects.toMatchObject({ status: 499 });
});
