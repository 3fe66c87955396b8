import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { runLoad, runMix } from './http-load.ts';

let server: Server | undefined;

afterEach(() => {
  server?.close();
  server = undefined;
});

/** A server that answers each request by the path it asks for. */
async function serve(answer: (socket: Socket, path: string) => void): Promise<URL> {
  server = createServer((socket) => {
    socket.on('data', (data) => answer(socket, data.toString('latin1').split(' ')[1] ?? ''));
    socket.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return new URL(`http://127.0.0.1:${address.port}`);
}

function inPieces(socket: Socket, pieces: readonly string[]): void {
  const [first, ...rest] = pieces;
  if (first === undefined) return;
  socket.write(first);
  setImmediate(() => inPieces(socket, rest));
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`;

test('counts every answer once, however it is cut into pieces', async () => {
  const answers: Record<string, string[]> = {
    '/whole': ['HTTP/1.1 200 OK\r\nContent-Type: a\r\nContent-Length: 5\r\n\r\nhello'],
    '/split': 'HTTP/1.1 200 OK\r\nx: y\r\ncontent-length: 12\r\n\r\nhello again.'.split(''),
    '/chunked': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n', '0\r', '\n\r\n'],
    '/empty': ['HTTP/1.1 204 No Content\r\ndate: today\r\n\r\n'],
  };
  const endpoint = await serve((socket, path) => inPieces(socket, answers[path] ?? []));
  for (const [path, pieces] of Object.entries(answers)) {
    const result = await runLoad({
      endpoint,
      connections: 3,
      seconds: 60,
      requests: 20,
      next: () => get(path),
    });
    expect(result).toMatchObject({ requests: 20, errors: 0 });
    const bytes = (result.megabytesPerSecond / result.perSecond) * 1e6;
    expect(Math.round(bytes)).toBe(pieces.join('').length);
  }
});

test('keeps the kinds of a mix apart, with their errors', async () => {
  const endpoint = await serve((socket, path) => {
    socket.write(`HTTP/1.1 ${path === '/bad' ? 500 : 200} -\r\ncontent-length: 0\r\n\r\n`);
  });
  const [good, bad] = await runMix({ endpoint, connections: 2, seconds: 60, requests: 400 }, [
    { share: 75, next: () => get('/good') },
    { share: 25, next: () => get('/bad') },
  ]);
  expect((good?.requests ?? 0) + (bad?.requests ?? 0)).toBe(400);
  expect(good?.errors).toBe(0);
  expect(bad?.errors).toBe(bad?.requests);
  expect(good?.requests).toBeGreaterThan(bad?.requests ?? 0);
});

test('ends when it is told to', async () => {
  const stop = new AbortController();
  let answered = 0;
  const endpoint = await serve((socket) => {
    answered += 1;
    if (answered === 50) stop.abort();
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
  });
  const options = { endpoint, connections: 1, seconds: 3600, signal: stop.signal };
  const result = await runLoad({ ...options, next: () => get('/') });
  expect(result.requests).toBe(50);
});

test('fails when the server goes away', async () => {
  const endpoint = await serve((socket) => socket.end());
  const options = { endpoint, connections: 2, seconds: 60 };
  await expect(runLoad({ ...options, next: () => get('/') })).rejects.toThrow('closed the connection');
});
