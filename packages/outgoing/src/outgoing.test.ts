import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { readFileSync } from 'node:fs';
import { connect, createServer as createTcpServer, type AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { allButLinkLocal, publicAnd } from './address-rule.ts';
import { OutgoingError } from './errors.ts';
import { Outgoing, type OutgoingOptions, type OutgoingRequest } from './outgoing.ts';

const servers: { close: () => unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function listen(listener: RequestListener): Promise<{ port: number; server: Server }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push({
    close() {
      server.close();
      server.closeAllConnections();
    },
  });
  return { port: (server.address() as AddressInfo).port, server };
}

const setting = 'actions.allowed_networks';
const open = { rule: allButLinkLocal(setting) };
const guarded = { rule: publicAnd({ setting, networks: [] }) };

function send(url: string, request: Partial<OutgoingRequest> = {}, options: OutgoingOptions = open) {
  return new Outgoing(options).send({
    url,
    method: 'GET',
    timeoutMs: 10_000,
    maxAnswerBytes: 1024,
    maxRedirects: 10,
    ...request,
  });
}

async function failure(sending: Promise<unknown>): Promise<OutgoingError> {
  const error: unknown = await sending.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(OutgoingError);
  return error as OutgoingError;
}

test('a request arrives whole, and so does its answer', async () => {
  const { port } = await listen((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => (body += chunk));
    request.on('end', () => {
      response.writeHead(
        201,
        'Made',
        [
          ['X-Twice', 'a'],
          ['X-Twice', 'b'],
        ].flat(),
      );
      response.end(
        `${request.method} ${request.url} ${String(request.headers['x-own'])} ${request.headers.authorization} ${body}`,
      );
    });
  });
  const answer = await send(`http://ada:s%3Acret@127.0.0.1:${port}/p?q=1`, {
    method: 'POST',
    headers: { 'X-Own': 'mine' },
    body: 'text',
  });
  expect(answer.status).toBe(201);
  expect(answer.statusText).toBe('Made');
  expect(answer.rawHeaders.slice(0, 4)).toEqual(['X-Twice', 'a', 'X-Twice', 'b']);
  expect(answer.body.toString()).toBe(
    `POST /p?q=1 mine Basic ${Buffer.from('ada:s:cret').toString('base64')} text`,
  );
});

test('requests to one host share a connection; what may have been received is not sent again', async () => {
  const ports: (number | undefined)[] = [];
  let endsSilently = false;
  const { port } = await listen((request, response) => {
    ports.push(request.socket.remotePort);
    request.resume().on('end', () => {
      if (endsSilently) {
        endsSilently = false;
        request.socket.destroy();
      } else response.end('ok');
    });
  });
  const outgoing = new Outgoing(open);
  const ask = (method: string, body?: string) =>
    outgoing.send({
      url: `http://127.0.0.1:${port}/`,
      method,
      body,
      timeoutMs: 10_000,
      maxAnswerBytes: 1024,
      maxRedirects: 0,
    });
  const post = () => ask('POST', 'x');
  await post();
  await post();
  expect(new Set(ports).size).toBe(1);
  // It was received, whatever became of the answer.
  endsSilently = true;
  expect((await failure(post())).kind).toBe('network');
  expect(ports).toHaveLength(3);
  await post();
  endsSilently = true;
  expect((await ask('GET')).body.toString()).toBe('ok');
  expect(ports).toHaveLength(6);
  // A connection of its own that ends is an error like any other.
  endsSilently = true;
  expect((await failure(post())).kind).toBe('network');
});

test('an address that is not allowed is never called', async () => {
  let called = 0;
  const { port } = await listen((_, response) => {
    called += 1;
    response.end();
  });
  for (const host of ['127.0.0.1', '[::1]', '0', '2130706433', '[::ffff:127.0.0.1]']) {
    const error = await failure(send(`http://${host}:${port}/secret-path`, {}, guarded));
    expect(error.kind).toBe('refused_address');
    expect(error.message).toMatch(/^address \S+ is not allowed \(actions\.allowed_networks\)$/);
  }
  expect(called).toBe(0);
});

test('one refused address of a name refuses the name', async () => {
  const resolve = () =>
    Promise.resolve([
      { address: '93.184.216.34', family: 4 },
      { address: '169.254.169.254', family: 4 },
    ]);
  const error = await failure(send('http://two-faces.test/', {}, { ...open, resolve }));
  expect(error.message).toBe('address 169.254.169.254 is not allowed (actions.allowed_networks)');
});

test('a name is resolved once, and the checked address is called', async () => {
  const { port } = await listen((request, response) => response.end(request.headers.host));
  const asked: string[] = [];
  // The second answer would be another address.
  const resolve = (name: string) => {
    asked.push(name);
    return Promise.resolve([{ address: asked.length === 1 ? '127.0.0.1' : '169.254.169.254', family: 4 }]);
  };
  const answer = await send(`http://rebinding.test:${port}/`, {}, { ...open, resolve });
  expect(answer.body.toString()).toBe(`rebinding.test:${port}`);
  expect(asked).toEqual(['rebinding.test']);
});

test('where a host is, for connections of other kinds, is told once it is allowed', async () => {
  const asked: string[] = [];
  const resolve = (name: string) => {
    asked.push(name);
    return Promise.resolve(name === 'nowhere.test' ? [] : [{ address: '127.0.0.1', family: 4 }]);
  };
  const outgoing = new Outgoing({ ...open, resolve });
  expect(await outgoing.resolve('hive.test')).toEqual([{ address: '127.0.0.1', family: 4 }]);
  expect(await outgoing.resolve('::1')).toEqual([{ address: '::1', family: 6 }]);
  expect(asked).toEqual(['hive.test']);
  expect((await failure(outgoing.resolve('nowhere.test'))).message).toBe('nowhere.test has no address');
  const strict = new Outgoing({ ...guarded, resolve });
  for (const host of ['hive.test', '::1', '::ffff:7f00:1', '10.0.0.1']) {
    expect((await failure(strict.resolve(host))).kind).toBe('refused_address');
  }
});

test('each hop of a redirect is checked', async () => {
  const { port } = await listen((_, response) => {
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data' }).end();
  });
  const error = await failure(send(`http://127.0.0.1:${port}/`));
  expect(error.kind).toBe('refused_address');
});

test('301 to 303 become a GET without a body, 307 and 308 repeat the request', async () => {
  const { port } = await listen((request, response) => {
    const status = Number(request.url?.slice(1));
    if (status > 0) {
      response.writeHead(status, { location: '/end' }).end();
      return;
    }
    let size = 0;
    request.on('data', (chunk: Buffer) => (size += chunk.length));
    request.on('end', () => response.end(`${request.method} ${size} ${request.headers['content-type']}`));
  });
  const answers: string[] = [];
  for (const status of [301, 302, 303, 307, 308]) {
    const answer = await send(`http://127.0.0.1:${port}/${status}`, {
      method: 'POST',
      body: 'four',
      headers: { 'content-type': 'text/plain' },
    });
    answers.push(`${status} ${answer.body.toString()}`);
  }
  expect(answers).toEqual([
    '301 GET 0 undefined',
    '302 GET 0 undefined',
    '303 GET 0 undefined',
    '307 POST 4 text/plain',
    '308 POST 4 text/plain',
  ]);
});

test('headers do not follow to another origin, and redirects end', async () => {
  const seen: unknown[] = [];
  const other = await listen((request, response) => {
    seen.push(request.headers['x-token'], request.headers.authorization);
    response.end('there');
  });
  const { port } = await listen((request, response) => {
    const location = request.url === '/loop' ? '/loop' : `http://127.0.0.1:${other.port}/`;
    response.writeHead(307, { location }).end();
  });
  const headers = { 'X-Token': 'secret', Authorization: 'Bearer secret' };
  expect((await send(`http://127.0.0.1:${port}/away`, { headers })).body.toString()).toBe('there');
  expect(seen).toEqual([undefined, undefined]);
  const error = await failure(send(`http://127.0.0.1:${port}/loop`, { headers }));
  expect(error.message).toBe('stopped after 10 redirects');
  expect((await send(`http://127.0.0.1:${port}/loop`, { maxRedirects: 0 })).status).toBe(307);
});

test('an answer without an end is cut off, a long one may be kept in part', async () => {
  const { port } = await listen((request, response) => {
    if (request.url === '/endless') {
      const chunk = Buffer.alloc(65_536);
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', pour);
      };
      pour();
    } else response.end('x'.repeat(1000));
  });
  const error = await failure(send(`http://127.0.0.1:${port}/endless`, { maxAnswerBytes: 1024 ** 2 }));
  expect(error).toMatchObject({ kind: 'too_large', message: 'the answer is larger than 1 MiB' });
  const part = await send(`http://127.0.0.1:${port}/`, { keepBytes: 10 });
  expect([part.body.length, part.isCut]).toEqual([10, true]);
});

test('silence ends with the time that was given, whether before or inside the answer', async () => {
  const { port } = await listen((request, response) => {
    if (request.url !== '/none') response.write('begun');
  });
  for (const path of ['/none', '/half']) {
    const error = await failure(send(`http://127.0.0.1:${port}${path}`, { timeoutMs: 30 }));
    expect(error).toMatchObject({ kind: 'timeout', message: 'no answer within 0.03 s' });
  }
  const idle = await failure(send(`http://127.0.0.1:${port}/half`, { idleTimeoutMs: 30 }));
  expect(idle.message).toBe(`127.0.0.1:${port} was silent for 0.03 s`);
  const never = () => new Promise<never>(() => {});
  const lost = await failure(send('http://slow.test/', { timeoutMs: 30 }, { ...open, resolve: never }));
  expect(lost.kind).toBe('timeout');
});

test('a cancelled request ends', async () => {
  const stop = new AbortController();
  const { port } = await listen(() => stop.abort());
  const error = await failure(send(`http://127.0.0.1:${port}/`, { signal: stop.signal }));
  expect(error.kind).toBe('cancelled');
  expect((await failure(send(`http://127.0.0.1:${port}/`, { signal: stop.signal }))).kind).toBe('cancelled');
});

test('errors name the host and the reason, and nothing that may be secret', async () => {
  const listener = createTcpServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  servers.push(listener);
  const { port } = listener.address() as AddressInfo;
  const refused = await failure(send(`http://user:hidden@127.0.0.1:${port}/hidden?hidden=1`));
  expect(refused.message).toContain(`127.0.0.1:${port}: `);
  expect(refused.message).not.toContain('hidden');
  const resolve = () =>
    Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND no.test'), { code: 'ENOTFOUND' }));
  const unknown = await failure(send('http://no.test/', {}, { ...open, resolve }));
  expect(unknown.message).toBe('no.test: no such host (ENOTFOUND)');
  expect((await failure(send('ftp://x.test/hidden'))).message).toBe('unsupported protocol scheme "ftp"');
  expect((await failure(send('hidden'))).message).toBe('the URL cannot be read');
});

test('a server that speaks no TLS fails a https request', async () => {
  const { port } = await listen((_, response) => response.end());
  const error = await failure(send(`https://127.0.0.1:${port}/`));
  expect(error.kind).toBe('network');
});

const pem = (name: string): string =>
  readFileSync(new URL(`../test/fixtures/localhost-${name}.pem`, import.meta.url), 'utf8');

test('a certificate must be trusted and name the host', async () => {
  const server = createTlsServer({ key: pem('key'), cert: pem('cert') }, (_, response) =>
    response.end('sealed'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push(server);
  const { port } = server.address() as AddressInfo;
  const resolve = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
  const trusting = { ...open, resolve, ca: pem('cert') };
  const answer = await send(`https://localhost:${port}/`, {}, trusting);
  expect(answer.body.toString()).toBe('sealed');
  const unknown = await failure(send(`https://localhost:${port}/`, {}, { ...open, resolve }));
  expect(unknown.message).toContain('DEPTH_ZERO_SELF_SIGNED_CERT');
  const other = await failure(send(`https://other.test:${port}/`, {}, trusting));
  expect(other.message).toContain('ERR_TLS_CERT_ALTNAME_INVALID');
});

test('a proxy that the variables name is asked, and decides where to go', async () => {
  const target = await listen((_, response) => response.end('through the proxy'));
  const asked: string[] = [];
  const proxy = await listen((request, response) => {
    asked.push(request.url ?? '');
    response.end('plain proxy');
  });
  proxy.server.on('connect', (request, client) => {
    asked.push(`CONNECT ${request.url}`);
    const upstream = connect(target.port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
  });
  const proxyVariables = {
    HTTP_PROXY: `http://127.0.0.1:${proxy.port}`,
    HTTPS_PROXY: `127.0.0.1:${proxy.port}`,
  };
  const answer = await send('http://169.254.169.254/x', {}, { ...guarded, proxyVariables });
  expect(answer.body.toString()).toBe('plain proxy');
  // The target speaks no TLS: that the tunnel was asked for is what matters.
  await failure(send('https://inside.test/', {}, { ...guarded, proxyVariables }));
  expect(asked).toEqual(['http://169.254.169.254/x', 'CONNECT inside.test:443']);
});
