import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { PassThrough, Writable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { LeanClient } from './lean-client.ts';

const big = Buffer.from(Array.from({ length: 700_001 }, (_, index) => (index * 31) % 251));
const servers: Server[] = [];
const clients: LeanClient[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.close();
  for (const server of servers.splice(0)) server.close();
});

/** A store that answers each request with what `answer` writes; and a client of it. */
async function store(answer: (socket: Socket, request: number) => void, timeoutMs = 5000) {
  const seen = { connections: 0, requests: 0, heads: [] as string[] };
  const server = createServer((socket) => {
    seen.connections += 1;
    socket.on('error', () => undefined);
    let head = '';
    socket.on('data', (chunk) => {
      head += chunk.toString('latin1');
      const end = head.indexOf('\r\n\r\n') + 4;
      if (end < 4 || head.length < end + Number(/content-length: (\d+)/.exec(head)?.[1] ?? 0)) return;
      seen.heads.push(head);
      head = '';
      seen.requests += 1;
      answer(socket, seen.requests);
    });
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  const client = new LeanClient({ timeoutMs, maxConnections: 4, rejectUnauthorized: true });
  clients.push(client);
  const at = { origin: `http://127.0.0.1:${port}`, path: '/bucket/key' };
  const get = (signal?: AbortSignal) =>
    client.send({ method: 'GET', ...at, headers: { host: 'store', range: 'bytes=0-' }, signal });
  const put = (body: Buffer, headers: Record<string, string> = {}) =>
    client.send({ method: 'PUT', ...at, headers: { ...headers, 'content-length': `${body.length}` }, body });
  const head = () => client.send({ method: 'HEAD', ...at, headers: { host: 'store' } });
  return { client, get, put, head, seen };
}

function answerWith(body: Buffer, head = '') {
  return (socket: Socket): void => {
    const first = `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\nETag: "e"\r\n${head}\r\n`;
    socket.write(Buffer.concat([Buffer.from(first), body]));
  };
}

/** Takes a piece at a time, each after a turn, and checks that nobody changes it meanwhile. */
function slowSink(): { sink: Writable; content: () => Buffer } {
  const pieces: Buffer[] = [];
  const sink = new Writable({
    highWaterMark: 1,
    write(chunk: Buffer, _encoding, done) {
      const before = Buffer.from(chunk);
      setTimeout(() => {
        if (!before.equals(chunk)) throw new Error('the piece was overwritten');
        pieces.push(before);
        done();
      }, 1);
    },
  });
  return { sink, content: () => Buffer.concat(pieces) };
}

test('objects of every size, in pieces of every size, over one connection', async () => {
  const sizes = [0, 1, 65_536, 65_537, 100_000, big.length];
  const { get, seen, client } = await store((socket, request) => {
    const body = big.subarray(0, sizes[(request - 1) % sizes.length]);
    const whole = Buffer.concat([
      Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`),
      body,
    ]);
    const step = request > sizes.length ? 10_007 : whole.length;
    let at = 0;
    const next = (): void => {
      socket.write(whole.subarray(at, at + (at === 0 ? 7 : step)));
      at += at === 0 ? 7 : step;
      if (at < whole.length) setImmediate(next);
    };
    next();
  });
  for (const size of [...sizes, ...sizes]) {
    const answer = await get();
    expect(answer).toMatchObject({ status: 200, body: { size } });
    const { sink, content } = slowSink();
    await answer?.body.sendTo(sink);
    expect(content().equals(big.subarray(0, size))).toBe(true);
  }
  expect(seen).toMatchObject({ connections: 1, requests: 12 });
  expect(seen.heads[0]).toBe('GET /bucket/key HTTP/1.1\r\nhost: store\r\nrange: bytes=0-\r\n\r\n');
  expect(client.connectionsInUse).toBe(0);
});

test('a refusal comes with its text', async () => {
  const { get, seen } = await store((socket) =>
    socket.write('HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nnone'),
  );
  for (let index = 0; index < 2; index += 1) {
    expect(await get()).toMatchObject({ status: 404, body: { bytes: Buffer.from('none') } });
  }
  expect(seen.connections).toBe(1);
});

test('a refusal in chunks comes with its text, however it is cut', async () => {
  const text =
    'HTTP/1.1 503 Slow Down\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nslow \r\n4;x=y\r\ndown\r\n0\r\n\r\n';
  const { get } = await store((socket, request) => {
    const cut = request % text.length;
    socket.write(text.slice(0, cut));
    setImmediate(() => socket.write(text.slice(cut)));
  });
  for (let index = 0; index < 8; index += 1) {
    expect(await get()).toMatchObject({ status: 503, body: { bytes: Buffer.from('slow down') } });
  }
});

test.each([0, 1, 4096, big.length])('a body of %i bytes is sent whole, over one connection', async (size) => {
  const { put, seen } = await store((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nETag: "e"\r\n\r\n'),
  );
  const body = big.subarray(0, size);
  for (let round = 0; round < 3; round += 1) {
    const answer = await put(body);
    expect(answer?.status).toBe(200);
    expect(answer?.header('etag')).toBe('"e"');
  }
  expect(seen.connections).toBe(1);
  const wanted = `PUT /bucket/key HTTP/1.1\r\ncontent-length: ${size}\r\n\r\n${body.toString('latin1')}`;
  expect(seen.heads.every((each) => each === wanted)).toBe(true);
});

test('an answer to a write in chunks leaves the connection to the next', async () => {
  const { put, seen } = await store((socket) =>
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nETag: "e"\r\n\r\n0\r\n\r\n'),
  );
  for (let round = 0; round < 2; round += 1) expect((await put(big))?.header('etag')).toBe('"e"');
  expect(seen.connections).toBe(1);
});

test('a store whose answer to a write was not understood is sent no more of them', async () => {
  const { put, get, seen } = await store((socket) =>
    socket.write('HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n'),
  );
  for (let round = 0; round < 3; round += 1) expect(await put(big)).toBeUndefined();
  expect(seen.requests).toBe(1);
  await get();
  expect(seen.requests).toBe(2);
});

test('a refused body takes its connection along, which may still hold a part of it', async () => {
  const { put, seen, client } = await store((socket) =>
    socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno'),
  );
  for (let round = 0; round < 2; round += 1) {
    expect(await put(big)).toMatchObject({ status: 403, body: { bytes: Buffer.from('no') } });
  }
  expect(seen.connections).toBe(2);
  expect(client.connectionsInUse).toBe(0);
});

test('what is asked about without being sent has a length and no body', async () => {
  const { head, get, seen } = await store((socket, request) =>
    request < 3
      ? socket.write('HTTP/1.1 200 OK\r\nContent-Length: 700001\r\n\r\n')
      : answerWith(big.subarray(0, 3))(socket),
  );
  for (let round = 0; round < 2; round += 1) {
    const answer = await head();
    expect(answer).toMatchObject({ status: 200, body: { size: 0 } });
    expect(answer?.header('content-length')).toBe('700001');
  }
  expect(await get()).toMatchObject({ body: { bytes: big.subarray(0, 3) } });
  expect(seen.connections).toBe(1);
});

test.each(['a\r\nx: y', 'a\nb', 'a\0b', '€'])('a header of %j is left to others', async (value) => {
  const { put, seen } = await store(answerWith(Buffer.alloc(0)));
  expect(await put(big, { 'content-type': value })).toBeUndefined();
  expect(seen.connections).toBe(0);
});

// The smaller one arrives together with its head.
test.each([100_000, big.length])('a stream of %i bytes is whole, and its pieces stay', async (size) => {
  const { get } = await store(answerWith(big.subarray(0, size)));
  const answer = await get();
  const pieces: Buffer[] = [];
  for await (const piece of answer!.body.stream()) {
    pieces.push(piece as Buffer);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(Buffer.concat(pieces).equals(big.subarray(0, size))).toBe(true);
});

test.each([
  ['a long refusal', 'HTTP/1.1 404 Not Found\r\nContent-Length: 70000\r\n\r\n'],
  ['an interim answer', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['an older protocol', 'HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx'],
  ['no length', 'HTTP/1.1 200 OK\r\n\r\nx'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx'],
  [
    'pieces with lengths of their own',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\nx',
  ],
  ['more than announced', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy'],
  ['a head without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}`],
  ['no head', 'what?\r\n\r\n'],
])('%s is left to others, and its connection is not used again', async (_name, text) => {
  const { get, seen, client } = await store((socket) => socket.write(text));
  expect(await get()).toBeUndefined();
  expect(await get()).toBeUndefined();
  expect(seen.connections).toBe(2);
  expect(client.connectionsInUse).toBe(0);
});

test('a store that is not there, closes or stays silent is left to others', async () => {
  const { get } = await store((socket) => socket.destroy());
  expect(await get()).toBeUndefined();
  const silent = await store(() => undefined, 50);
  expect(await silent.get()).toBeUndefined();
  const nobody = new LeanClient({ timeoutMs: 1000, maxConnections: 1, rejectUnauthorized: true });
  expect(
    await nobody.send({ method: 'GET', origin: 'http://127.0.0.1:1', path: '/', headers: {} }),
  ).toBeUndefined();
  nobody.close();
});

test('a body that breaks off or grows fails its reader and takes the sink along', async () => {
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${big.length}\r\n\r\n`;
  const { get, client } = await store((socket, request) => {
    socket.write(head);
    if (request % 2 === 1) socket.end(big.subarray(0, 300_000));
    else socket.write(Buffer.concat([big, Buffer.from('more')]));
  });
  for (let round = 0; round < 2; round += 1) {
    const sink = new PassThrough();
    sink.on('error', () => undefined).resume();
    const answer = await get();
    await expect(answer?.body.sendTo(sink)).rejects.toThrow(/broke off|more than/);
    expect(sink.destroyed).toBe(true);
  }
  for (let round = 0; round < 2; round += 1) {
    const answer = await get();
    await expect(answer!.body.stream().toArray()).rejects.toMatchObject({ kind: 'unavailable' });
  }
  expect(client.connectionsInUse).toBe(0);
});

test('a reader that goes away, a body that is not wanted and a signal free the connection', async () => {
  const { get, client, seen } = await store(answerWith(big));
  const sink = new Writable({ write: () => undefined });
  sink.on('error', () => undefined);
  const sending = (await get())?.body.sendTo(sink);
  sink.destroy();
  await expect(sending).rejects.toThrow('went away');
  const unread = await get();
  unread?.body.dispose();
  unread?.body.dispose();
  const stop = new AbortController();
  const cut = await get(stop.signal);
  const reading = cut!.body.stream().toArray();
  stop.abort();
  await expect(reading).rejects.toThrow('broke off');
  await expect(get(AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late');
  expect(client.connectionsInUse).toBe(0);
  expect(seen.connections).toBe(3);
});

test('a body read to its end and disposed of afterwards leaves the connection to the next', async () => {
  const { get, seen } = await store(answerWith(big));
  const first = await get();
  const { sink } = slowSink();
  await first?.body.sendTo(sink);
  const second = await get();
  first?.body.dispose();
  expect(Buffer.concat((await second!.body.stream().toArray()) as Buffer[]).equals(big)).toBe(true);
  expect(seen.connections).toBe(1);
});

test('a connection that the store ends is not used again, and there are no more than allowed', async () => {
  const { get, seen, client } = await store(answerWith(big, 'Connection: close\r\n'));
  for (let index = 0; index < 2; index += 1) {
    const { sink } = slowSink();
    await (await get())?.body.sendTo(sink);
  }
  expect(seen.connections).toBe(2);
  const held = [await get(), await get(), await get(), await get()];
  expect(client.connectionsInUse).toBe(4);
  expect(await get()).toBeUndefined();
  for (const answer of held) answer?.body.dispose();
  expect(client.connectionsInUse).toBe(0);
});

test('a reader that takes long is not taken for a silent store', async () => {
  const { get } = await store(answerWith(big), 500);
  const answer = await get();
  const pieces: Buffer[] = [];
  let isFirst = true;
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      pieces.push(Buffer.from(chunk));
      setTimeout(done, isFirst ? 1200 : 0);
      isFirst = false;
    },
  });
  await answer?.body.sendTo(sink);
  expect(Buffer.concat(pieces).equals(big)).toBe(true);
});
