import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { Listener } from './listener.ts';
import { publicUrl, parseListenAddress } from './address.ts';

test('the timeouts let long uploads live and answer slow heads', async () => {
  const listener = new Listener({ serve: (_request, response) => response.end(), traces: () => false });
  expect(listener.server).toMatchObject({
    headersTimeout: 60_000,
    requestTimeout: 0,
    timeout: 0,
    keepAliveTimeout: 600_000,
  });
  await listener.listen('127.0.0.1', 0);
  expect(await listener.drain(1000)).toBe(true);
});

test('a request that does not end in time is cut, and says so', async () => {
  const listener = new Listener({ serve: () => {}, traces: () => false });
  const { port } = await listener.listen('127.0.0.1', 0);
  const socket = connect(port, '127.0.0.1');
  const closed = new Promise((resolve) => socket.on('close', resolve));
  socket.on('error', () => {});
  const seen = new Promise((resolve) => listener.server.once('request', resolve));
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  await seen;
  expect(await listener.drain(10)).toBe(false);
  await closed;
});

test('Expect: 100-continue is answered before the body is read', async () => {
  const listener = new Listener({
    serve: (request, response) => request.resume().on('end', () => response.end('done')),
    traces: () => false,
  });
  const { port } = await listener.listen('127.0.0.1', 0);
  const socket = connect(port, '127.0.0.1');
  let text = '';
  const until = (wanted: string) =>
    new Promise<void>((resolve) => {
      const look = () => text.includes(wanted) && resolve();
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        look();
      });
      look();
    });
  const continued = until('100 Continue');
  socket.write('PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n');
  await continued;
  const done = until('done');
  socket.write('ab');
  await done;
  socket.destroy();
  await listener.drain(1000);
});

test('requests that are held are answered in their order when they are released, or the server stops', async () => {
  const served: string[] = [];
  const listener = new Listener({
    serve(request, response) {
      served.push(request.url ?? '');
      response.end();
    },
    traces: () => false,
  });
  const send = async (path: string): Promise<() => Promise<unknown>> => {
    const socket = connect(port, '127.0.0.1');
    const seen = once(listener.server, 'request');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await seen;
    return () => once(socket, 'data').then(() => socket.destroy());
  };
  listener.hold();
  const { port } = await listener.listen('127.0.0.1', 0);
  const answers = [await send('/1'), await send('/2')];
  expect(served).toEqual([]);
  listener.release();
  await Promise.all(answers.map((answer) => answer()));
  expect(served).toEqual(['/1', '/2']);
  listener.hold();
  const last = await send('/3');
  const drained = listener.drain(60_000);
  await last();
  expect([await drained, served.at(-1)]).toEqual([true, '/3']);
});

test('addresses', () => {
  expect(parseListenAddress('0.0.0.0:8000')).toEqual({ host: '0.0.0.0', port: 8000 });
  expect(parseListenAddress(':80')).toEqual({ host: '', port: 80 });
  expect(parseListenAddress('[::1]:80')).toEqual({ host: '::1', port: 80 });
  expect(publicUrl('0.0.0.0', 8000, false)).toBe('http://localhost:8000');
  expect(publicUrl('::1', 80, true)).toBe('https://[::1]:80');
});
