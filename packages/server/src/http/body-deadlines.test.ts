import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { BodyDeadlines } from './body-deadlines.ts';
import { Listener } from './listener.ts';

let now = 0;
let deadlines: BodyDeadlines;
let listener: Listener;
let port = 0;
let reads = true;
const sockets: Socket[] = [];

beforeEach(async () => {
  now = 0;
  reads = true;
  deadlines = new BodyDeadlines(() => now);
  listener = new Listener({
    deadlines,
    traces: () => false,
    serve(request, response) {
      if (!reads) return;
      request.on('error', () => {});
      request.resume().on('end', () => response.end('done'));
    },
  });
  ({ port } = await listener.listen('127.0.0.1', 0));
});

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener.drain(0);
});

interface Client {
  readonly socket: Socket;
  readonly request: IncomingMessage;
  /** Everything the server says until it closes. */
  readonly answer: Promise<string>;
}

async function begin(headers: string): Promise<Client> {
  const seen = once(listener.server, 'request');
  const socket = connect(port, '127.0.0.1');
  sockets.push(socket);
  let text = '';
  const answer = new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
  });
  socket.write(`PUT / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers}\r\n\r\n`);
  const [request] = (await seen) as [IncomingMessage];
  return { socket, request, answer };
}

/** Sends that many bytes and waits until they were read. */
async function sendBytes({ socket, request }: Client, bytes: number): Promise<void> {
  const wanted = request.socket.bytesRead + bytes;
  socket.write('x'.repeat(bytes));
  while (request.socket.bytesRead < wanted) await new Promise((resolve) => setImmediate(resolve));
}

function passSeconds(seconds: number): void {
  for (let second = 0; second < seconds; second++) {
    now += 1000;
    deadlines.look();
  }
}

test.each(['Content-Length: 100', 'Transfer-Encoding: chunked'])(
  'a body that does not come ends its request (%s)',
  async (header) => {
    const { answer } = await begin(header);
    passSeconds(30);
    expect(deadlines.size).toBe(1);
    passSeconds(1);
    expect(await answer).toMatch(/^HTTP\/1\.1 408 [^]*did not arrive in time/);
    expect(deadlines.size).toBe(0);
  },
);

test('a body that trickles ends too', async () => {
  const client = await begin('Content-Length: 100000');
  for (let second = 0; second < 31; second++) {
    await sendBytes(client, 10);
    passSeconds(1);
  }
  expect(await client.answer).toMatch(/^HTTP\/1\.1 408 /);
});

test('an upload that is slow but steady lives', async () => {
  const client = await begin(`Content-Length: ${300 * 1100}`);
  for (let second = 0; second < 300; second++) {
    passSeconds(1);
    await sendBytes(client, 1100);
  }
  expect(await client.answer).toMatch(/^HTTP\/1\.1 200 [^]*done$/);
});

test('silence after much has arrived ends it all the same', async () => {
  const client = await begin('Content-Length: 1000000');
  await sendBytes(client, 500_000);
  passSeconds(61);
  expect(deadlines.size).toBe(1);
  passSeconds(1);
  expect(await client.answer).toMatch(/^HTTP\/1\.1 408 /);
});

test('the time in which the server does not read is not the client’s', async () => {
  reads = false;
  const client = await begin('Content-Length: 10');
  await sendBytes(client, 5);
  passSeconds(600);
  expect(client.request.destroyed).toBe(false);
  client.request.resume();
  await once(client.request, 'data');
  passSeconds(31);
  expect(await client.answer).toMatch(/^HTTP\/1\.1 408 /);
});

test('an answered request is watched until its body has come', async () => {
  reads = false;
  const client = await begin('Content-Length: 10');
  const [response] = await new Promise<[{ end(text: string): void }]>((resolve) => {
    listener.server.once('request', (_, answer) => resolve([answer as never]));
    sockets.push(connect(port, '127.0.0.1'));
    sockets.at(-1)?.write('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n');
  });
  response.end('early');
  await once(sockets.at(-1) as Socket, 'data');
  expect(deadlines.size).toBe(2);
  client.socket.destroy();
});

test('requests without a body, and those whose body has come, are not watched', async () => {
  const get = connect(port, '127.0.0.1');
  sockets.push(get);
  get.write('GET / HTTP/1.1\r\nHost: x\r\n\r\nPUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab');
  let text = '';
  while ([...text.matchAll(/done/g)].length < 2) {
    const [chunk] = (await once(get, 'data')) as [Buffer];
    text += chunk.toString();
  }
  await new Promise((resolve) => setImmediate(resolve));
  expect(deadlines.size).toBe(0);
});
