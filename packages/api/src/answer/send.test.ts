import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { Answer } from './answer.ts';
import { send } from './send.ts';

let body = Buffer.alloc(0);
let sent = 0;
let closed: Promise<unknown> | undefined;
const server = createServer((request, response) => {
  closed = new Promise((resolve) => response.on('close', () => setImmediate(resolve)));
  void send(request, response, new Answer(200, {}, body, () => sent++));
});

afterEach(() => {
  server.close();
  sent = 0;
});

async function ask(): Promise<{ socket: ReturnType<typeof connect>; text: () => string }> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  return { socket, text: () => text };
}

test('says once that the memory of a body is free, when all of it is on its way', async () => {
  body = Buffer.from('the body');
  const { socket, text } = await ask();
  await once(socket, 'close');
  expect(text()).toMatch(/the body$/);
  expect(sent).toBe(1);
});

test('does not say so while a client has not taken the body, nor when it never does', async () => {
  // More than the buffers of a connection take.
  body = Buffer.alloc(64 * 1024 * 1024, 'x');
  const { socket } = await ask();
  await once(socket, 'data');
  socket.pause();
  expect(sent).toBe(0);
  socket.destroy();
  await closed;
  expect(sent).toBe(0);
});
