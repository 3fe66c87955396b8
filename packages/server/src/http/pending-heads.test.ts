import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Listener } from './listener.ts';
import { PendingHeads } from './pending-heads.ts';

const heads = new PendingHeads(10_000);
let listener: Listener;
let port = 0;
const clients: Socket[] = [];

beforeEach(async () => {
  listener = new Listener({
    heads,
    traces: () => false,
    serve: (request, response) => request.resume().on('end', () => response.end('done')),
  });
  ({ port } = await listener.listen('127.0.0.1', 0));
});

afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await listener.drain(0);
});

/** A connection, and the server's end of it. */
async function open(): Promise<{ client: Socket; peer: Socket }> {
  const connected = once(listener.server as Server, 'connection');
  const client = connect(port, '127.0.0.1');
  client.on('error', () => {});
  clients.push(client);
  const [peer] = (await connected) as [Socket];
  return { client, peer };
}

async function send(pair: { client: Socket; peer: Socket }, text: string): Promise<void> {
  const wanted = pair.peer.bytesRead + text.length;
  pair.client.write(text);
  while (pair.peer.bytesRead < wanted) await new Promise((resolve) => setImmediate(resolve));
}

const unfinished = (bytes: number): string => `GET / HTTP/1.1\r\nX: ${'x'.repeat(bytes)}`;

test('beyond the bound the largest unfinished heads are cut off', async () => {
  const [small, large, larger] = [await open(), await open(), await open()];
  await send(small, unfinished(1000));
  await send(large, unfinished(6000));
  heads.look();
  expect([small, large, larger].map(({ peer }) => peer.destroyed)).toEqual([false, false, false]);
  await send(larger, unfinished(8000));
  heads.look();
  expect([small, large, larger].map(({ peer }) => peer.destroyed)).toEqual([false, false, true]);
  const answered = once(small.client, 'data');
  await send(small, '\r\nHost: x\r\n\r\n');
  expect(String(await answered)).toContain('done');
});

test('bodies and answered requests are no heads', async () => {
  const pair = await open();
  const upload = 'PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n';
  await send(pair, upload + 'x'.repeat(30_000));
  heads.look();
  const answered = once(pair.client, 'data');
  await send(pair, 'x'.repeat(30_000));
  await answered;
  heads.look();
  expect(pair.peer.destroyed).toBe(false);
  await send(pair, unfinished(12_000));
  heads.look();
  expect(pair.peer.destroyed).toBe(true);
});
