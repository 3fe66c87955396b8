import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { AttackedServer } from './attacked-server.ts';

let attacked: AttackedServer;
const script = '<html><body><script>alert(document.cookie)</script></body></html>';

/** Names and texts that mean something to a browser, a shell or a reader of headers. */
const names = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "'; DROP TABLE x; --",
  'a"b',
  'a\r\nx-injected: y',
  'é',
  '\u202egpj.exe',
  '${jndi:ldap://127.0.0.1:1/x}',
];

beforeAll(async () => {
  attacked = await AttackedServer.start();
});
afterEach(() => attacked.expectUnharmed());
afterAll(() => attacked.server.stop());

const objects = '/repositories/hers/branches/main/objects';

/** Stores an object as mallory does, and takes it away again. */
async function withObject(
  key: string,
  headers: Record<string, string>,
  body: string,
  look: (key: string) => Promise<void>,
): Promise<void> {
  const path = `${objects}?path=${encodeURIComponent(key)}`;
  expect((await attacked.call('POST', path, { as: attacked.mallory, body, headers })).status).toBe(201);
  try {
    await look(key);
  } finally {
    await attacked.target.manage('PUT', '/repositories/hers/branches/main', { type: 'reset' });
    await attacked.remember();
  }
}

test.each([
  'text/html',
  'image/svg+xml',
  'application/xhtml+xml',
  'text/xml',
  'TEXT/HTML; charset=utf-8',
  'text/html\t',
  'application/pdf',
])('stored as %s, a script does not run in our pages', async (type) => {
  await withObject('page', { 'content-type': type }, script, async () => {
    const answer = await attacked.call('GET', '/repositories/hers/refs/main/objects?path=page', {
      as: attacked.mallory,
    });
    expect(answer.headers['content-security-policy']).toMatch(/default-src 'none'/);
    if (type !== 'application/pdf') expect(answer.headers['content-security-policy']).toMatch(/sandbox/);
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    if (/html|xml$/i.test(type) && type !== 'image/svg+xml')
      expect(answer.headers['content-disposition']).toMatch(/^attachment/);
  });
});

test('names reach nobody as markup or headers', async () => {
  for (const name of names) {
    await withObject(`${name}/x`, {}, 'x', async (key) => {
      const path = encodeURIComponent(key);
      for (const answer of [
        await attacked.call('GET', `/repositories/hers/refs/main/objects?path=${path}`, {
          as: attacked.mallory,
        }),
        await attacked.call('GET', '/repositories/hers/refs/main/objects/ls', { as: attacked.mallory }),
        await attacked.call('GET', `/repositories/hers/refs/main/objects/ls?prefix=${path}&amount=x`, {
          as: attacked.mallory,
        }),
        await attacked.s3('GET', `/hers?prefix=main%2F&list-type=2`, attacked.mallory),
        await attacked.s3('GET', `/hers/main/${encodeURIComponent(`${name}/none`)}`, attacked.mallory),
      ]) {
        expect(answer.headers['x-injected']).toBeUndefined();
        expect(answer.headers['content-type']).not.toMatch(/html/);
        if (/xml/.test(String(answer.headers['content-type'])))
          expect(answer.body).not.toMatch(/<script|<img/);
      }
    });
  }
});

test('metadata of the caller sets no header of ours', async () => {
  const stored = {
    'x-lakefs-meta-set-cookie': 'a=b',
    'x-lakefs-meta-content-security-policy': 'x',
    'x-svc-meta-location': 'http://127.0.0.1:1/',
    'x-lakefs-internal-transfer-encoding': 'chunked',
  };
  await withObject('headed', stored, script, async () => {
    for (const answer of [
      await attacked.call('GET', '/repositories/hers/refs/main/objects?path=headed', {
        as: attacked.mallory,
      }),
      await attacked.s3('GET', '/hers/main/headed', attacked.mallory),
      await attacked.s3('HEAD', '/hers/main/headed', attacked.mallory),
    ]) {
      expect(answer.status).toBe(200);
      for (const name of ['set-cookie', 'location', 'transfer-encoding'])
        expect([name, answer.headers[name]]).toEqual([name, undefined]);
    }
  });
});

test('refusals repeat what was sent only as JSON or XML', async () => {
  const markup = encodeURIComponent('<script>alert(1)</script>');
  for (const answer of [
    await attacked.call('GET', `/repositories/${markup}`, { as: attacked.mallory }),
    await attacked.call('GET', `/${markup}`),
    await attacked.call('GET', `/repositories/hers/refs/${markup}/objects?path=${markup}`, {
      as: attacked.mallory,
    }),
    await attacked.s3('GET', `/${markup}/${markup}/${markup}`, attacked.mallory),
    await attacked.s3('GET', `/hers/${markup}/${markup}`, attacked.mallory),
  ]) {
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(String(answer.headers['content-type'])).toMatch(/json|xml/);
    if (/xml/.test(String(answer.headers['content-type']))) expect(answer.body).not.toContain('<script');
  }
});

test('pages load nothing from elsewhere and are framed by nobody', async () => {
  for (const path of ['/', '/repositories', `/${encodeURIComponent('<script>')}`]) {
    const page = await attacked.server.request(path);
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).not.toMatch(/script-src[^;]*'unsafe-(inline|eval)'/);
    expect(policy).not.toMatch(/\*|https:/);
    expect(page.headers['x-frame-options']).toBe('SAMEORIGIN');
    expect(page.headers['x-content-type-options']).toBe('nosniff');
    expect(page.body).not.toMatch(/<script>(?!\s*<)|src="http/);
  }
});

test('a description is kept as text', async () => {
  const statement = [{ effect: 'allow', action: ['fs:ReadObject'], resource: '*' }];
  for (const [index, name] of names.entries()) {
    const id = `described-${index}`;
    await attacked.target.manage('POST', '/auth/policies', { id, statement });
    const group = { id: `group-${index}`, description: name };
    await attacked.target.manage('POST', '/auth/groups', group);
    const shown = (await attacked.target.manage('GET', `/auth/groups/group-${index}`)) as {
      description: string;
    };
    expect(shown.description).toBe(name);
    await attacked.target.manage('DELETE', `/auth/policies/${id}`);
    await attacked.target.manage('DELETE', `/auth/groups/group-${index}`);
  }
});

test('stored response headers are those five, whoever stores them', async () => {
  const metadata = {
    '::svc::Set-Cookie': 'a=b',
    '::svc::Location': 'http://127.0.0.1:1/',
    '::svc::Content-Length': '1',
    '::svc::Transfer-Encoding': 'chunked',
    '::svc::Content-Security-Policy': "script-src 'unsafe-inline'",
    '::svc::x y': 'z',
    '::svc::': 'z',
  };
  const body = { physical_address: attacked.target.outside, checksum: 'x', size_bytes: 15, metadata };
  await attacked.call('PUT', `${objects}?path=headed`, { as: attacked.mallory, body });
  await withObject('headed', {}, 'x', async () => {
    const set = `${objects}/stat/user_metadata?path=headed`;
    await attacked.call('PUT', set, { as: attacked.mallory, body: { set: metadata } });
    for (const method of ['GET', 'HEAD']) {
      const answer = await attacked.s3(method, '/hers/main/headed', attacked.mallory);
      expect(answer.status).toBe(200);
      for (const name of ['set-cookie', 'location', 'transfer-encoding'])
        expect([name, answer.headers[name]]).toEqual([name, undefined]);
      expect(answer.headers['content-security-policy'] ?? '').not.toContain('unsafe');
    }
  });
});

test('the gateway lets no stored page act in our name', async () => {
  await withObject('page', { 'content-type': 'text/html' }, script, async () => {
    const answer = await attacked.s3('GET', '/hers/main/page', attacked.mallory);
    expect(String(answer.headers['content-security-policy'])).toMatch(/sandbox/);
    const shown = await attacked.s3(
      'GET',
      '/hers/main/page?response-content-type=text%2Fhtml',
      attacked.mallory,
    );
    expect(String(shown.headers['content-security-policy'])).toMatch(/sandbox/);
  });
});

test.each(['%00', '%7F', '%0D%0Ax-injected%3A%20y', '%01', '%1F'])(
  'an override with %s is refused',
  async (value) => {
    for (const name of [
      'content-type',
      'content-disposition',
      'cache-control',
      'expires',
      'content-language',
      'content-encoding',
    ]) {
      const target = `/hers/main/public/a?response-${name}=a${value}b`;
      const answer = await attacked.s3('GET', target, attacked.mallory);
      expect([200, 400], name).toContain(answer.status);
      expect(answer.headers['x-injected']).toBeUndefined();
    }
  },
);
