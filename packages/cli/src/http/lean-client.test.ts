import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { readText } from './answer-body.ts';
import { LeanClient } from './lean-client.ts';

const servers: Server[] = [];
const sockets = new Set<Socket>();

afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** Answers each request, once it is whole, as `answer` writes; and a client of it. */
async function start(answer: (socket: Socket, count: number) => void) {
  const seen = { connections: 0, requests: [] as string[] };
  const closed: Promise<unknown>[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    closed.push(new Promise((resolve) => socket.once('close', resolve)));
    seen.connections += 1;
    socket.on('error', () => undefined);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const end = text.indexOf('\r\n\r\n') + 4;
      if (end < 4 || text.length < end + Number(/content-length: (\d+)/.exec(text)?.[1] ?? 0)) return;
      seen.requests.push(text);
      text = '';
      answer(socket, seen.requests.length);
    });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = new LeanClient();
  const url = new URL(`http://127.0.0.1:${port}/a%20b?c=d`);
  const send = (body?: string | Uint8Array, signal?: AbortSignal) =>
    client.send({ method: body === undefined ? 'GET' : 'PUT', url, headers: lengthOf(body), body }, signal);
  /** The first connection is gone on both sides. */
  const firstClosed = (): Promise<unknown> | undefined => closed[0];
  return { client, url, send, seen, firstClosed };
}

function lengthOf(body: string | Uint8Array | undefined): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(body.length) };
}

const big = Buffer.from(Array.from({ length: 700_001 }, (_, index) => (index * 31) % 251));

async function bytesOf(answer: Awaited<ReturnType<LeanClient['send']>>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await answer?.body.forEach((bytes) => chunks.push(Buffer.from(bytes)));
  return Buffer.concat(chunks);
}

describe('answers', () => {
  it.each([1, 7, 10_007, 1_000_000])(
    'come whole in pieces of %i bytes, over one connection',
    async (step) => {
      const sizes = step < 100 ? [0, 1, 1000] : [0, 1, 131_072, 131_073, big.length];
      const { send, seen } = await start((socket, count) => {
        const body = big.subarray(0, sizes[count - 1]);
        const head = Buffer.from(`HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nX-A: b\r\n\r\n`);
        const all = Buffer.concat([head, body]);
        for (let at = 0; at < all.length; at += step) socket.write(all.subarray(at, at + step));
      });
      for (const size of sizes) {
        const answer = await send();
        expect(answer?.headers.get('x-a')).toBe('b');
        expect((await bytesOf(answer)).equals(big.subarray(0, size))).toBe(true);
      }
      expect(seen.connections).toBe(1);
      expect(seen.requests[0]).toMatch(/^GET \/a%20b\?c=d HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\n\r\n$/);
    },
  );

  it('come in chunks, as a stream too, and leave the connection usable', async () => {
    const { send, seen } = await start((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n');
      setTimeout(() => socket.write('2\r\nde\r\n0\r\n\r\n'), 10);
    });
    expect((await bytesOf(await send())).toString()).toBe('abcde');
    const streamed: Buffer[] = [];
    for await (const chunk of (await send())?.body.stream() ?? []) streamed.push(chunk as Buffer);
    expect(Buffer.concat(streamed).toString()).toBe('abcde');
    expect(seen.connections).toBe(1);
  });

  it('of any size can be a stream that is read slowly', async () => {
    const { send } = await start((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${big.length}\r\n\r\n`);
      socket.write(big);
    });
    const streamed: Buffer[] = [];
    for await (const chunk of (await send())?.body.stream() ?? []) {
      streamed.push(chunk as Buffer);
      await delay(1);
    }
    expect(Buffer.concat(streamed).equals(big)).toBe(true);
  });

  it('keep apart what came with their heads until they are read', async () => {
    const { send } = await start((socket, count) => {
      socket.write(
        Buffer.concat([
          Buffer.from('HTTP/1.1 200 OK\r\ncontent-length: 300000\r\n\r\n'),
          Buffer.alloc(300_000, count),
        ]),
      );
    });
    const [first, second] = [await send(), await send()];
    expect((await bytesOf(first)).equals(Buffer.alloc(300_000, 1))).toBe(true);
    expect((await bytesOf(second)).equals(Buffer.alloc(300_000, 2))).toBe(true);
  });

  it.each([1000, 700_000])('that break off hand over what came, then fail: %i bytes', async (size) => {
    const { send } = await start((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n`);
      socket.end(big.subarray(0, 500));
    });
    const answer = await send();
    let came = 0;
    await expect(answer?.body.forEach((bytes) => (came += bytes.length))).rejects.toThrow('hang up');
    expect(came).toBe(500);
    const refused = await send();
    await expect(refused === undefined ? undefined : readText(refused.body)).rejects.toThrow('hang up');
  });

  it('fail when none comes', async () => {
    const { send } = await start((socket) => socket.destroy());
    await expect(send()).rejects.toThrow();
  });

  it.each([
    'HTTP/1.1 100 Continue\r\n\r\n',
    'HTTP/1.0 200 OK\r\n\r\n',
    'HTTP/1.1 200 OK\r\n\r\nuntil the end',
    'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nab',
    `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}`,
  ])('that it does not understand are for another client: %j', async (text) => {
    const { send, client, url } = await start((socket) => socket.write(text));
    expect(await send()).toBeUndefined();
    expect(client.takes({ method: 'GET', url, headers: {}, body: undefined })).toBe(false);
  });
});

describe('connections', () => {
  it.each([
    ['says so', 'connection: close\r\n', ''],
    ['sends more than was asked for', '', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
  ])('are not used again when the server %s', async (_what, header, more) => {
    const { send, seen, firstClosed } = await start((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 0\r\n${header}\r\n`);
      if (more !== '') setTimeout(() => socket.write(more), 5);
    });
    await send();
    await firstClosed();
    await send();
    expect(seen.connections).toBe(2);
  });

  it('that the server closed while they rested are not used again', async () => {
    const { send, seen, firstClosed } = await start((socket, count) => {
      socket.write('HTTP/1.1 204 No Content\r\n\r\n');
      if (count === 1) setTimeout(() => socket.end(), 5);
    });
    await send();
    await firstClosed();
    expect((await send())?.status).toBe(204);
    expect(seen.connections).toBe(2);
  });

  it('are not used again after a large answer that nobody wanted', async () => {
    const { send, seen } = await start((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${big.length}\r\n\r\n`);
      socket.write(big);
    });
    (await send())?.body.discard();
    expect((await bytesOf(await send())).equals(big)).toBe(true);
    expect(seen.connections).toBe(2);
  });

  it('carry bodies and end with their signal, before and within an answer', async () => {
    const { send, seen } = await start((socket, count) => {
      if (count === 1) socket.write('HTTP/1.1 201 Created\r\ncontent-length: 2\r\n\r\nok');
      if (count === 3) socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${big.length}\r\n\r\nabc`);
    });
    expect((await bytesOf(await send('hello'))).toString()).toBe('ok');
    expect(seen.requests[0]).toMatch(/^PUT /);
    const before = new AbortController();
    const none = send(undefined, before.signal);
    setTimeout(() => before.abort(new Error('enough')), 20);
    await expect(none).rejects.toThrow('enough');
    const within = new AbortController();
    const answer = await send(undefined, within.signal);
    const reading = bytesOf(answer);
    within.abort(new Error('enough now'));
    await expect(reading).rejects.toThrow('enough now');
    await expect(send(undefined, within.signal)).rejects.toThrow('enough now');
  });
});

it('leaves headers that would break the request to another client', () => {
  const client = new LeanClient();
  const takes = (headers: Record<string, string>): boolean =>
    client.takes({ method: 'GET', url: new URL('http://h/'), headers, body: undefined });
  expect(takes({ 'x-lakefs-meta-a': 'ä b' })).toBe(true);
  expect(takes({ 'x-a': 'b\r\nx-c: d' })).toBe(false);
  expect(takes({ 'x-a\r\nb': 'c' })).toBe(false);
  expect(takes({ 'x-a': '日本' })).toBe(false);
});
