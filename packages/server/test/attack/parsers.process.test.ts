import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { AttackedServer } from './attacked-server.ts';

let attacked: AttackedServer;

beforeAll(async () => {
  attacked = await AttackedServer.start();
});
afterEach(() => attacked.expectUnharmed());
afterAll(() => attacked.server.stop());

const entity = (value: string): string =>
  `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY e ${value}>]><Delete><Object><Key>main/&e;</Key></Object></Delete>`;

test.each([
  ['a file', entity('SYSTEM "file:///etc/passwd"')],
  ['an address', entity('SYSTEM "http://127.0.0.1:1/"')],
  ['another parameter', '<!DOCTYPE d [<!ENTITY % p SYSTEM "file:///etc/passwd">%p;]><Delete/>'],
  ['itself, again and again', entity(`"${'&e;'.repeat(10)}"`)],
  [
    'a billion',
    `<!DOCTYPE d [<!ENTITY a "aaaaaaaaaa">${Array.from({ length: 9 }, (_, n) => `<!ENTITY b${n} "${`&${n === 0 ? 'a' : `b${n - 1}`};`.repeat(10)}">`).join('')}]><Delete>&b8;</Delete>`,
  ],
  ['a style sheet', '<?xml-stylesheet href="http://127.0.0.1:1/"?><Delete/>'],
  [
    'an inclusion',
    '<Delete xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="/etc/passwd"/></Delete>',
  ],
  ['depth', `<Delete>${'<a>'.repeat(100_000)}`],
  ['attributes', `<Delete ${Array.from({ length: 50_000 }, (_, n) => `a${n}="x"`).join(' ')}/>`],
  ['comments', `<Delete>${'<!---->'.repeat(100_000)}</Delete>`],
  [
    'another encoding',
    Buffer.from('<Delete><Object><Key>main/public/a</Key></Object></Delete>', 'utf16le').toString('latin1'),
  ],
  ['two roots', '<Delete/><Delete><Object><Key>main/public/a</Key></Object></Delete>'],
  ['too much', `<Delete>${'<Object><Key>main/public/a</Key></Object>'.repeat(60_000)}</Delete>`],
  ['nothing', ''],
])('a document with %s is refused', async (_kind, body) => {
  const answer = await attacked.s3('POST', '/victim?delete', attacked.target.admin, { body });
  expect(answer.status).toBe(400);
  expect(answer.body).not.toContain('root:');
});

test('a key is compared as it was checked', async () => {
  // Written in other ways, it is still a key that mallory may not delete.
  for (const key of [
    'main/public/a',
    '/main/public/a',
    'main/publi&#99;/a',
    '<![CDATA[main/public/a]]>',
    ' main/public/a',
    'main//public/a',
  ]) {
    const body = `<Delete><Object><Key>${key}</Key></Object></Delete>`;
    const answer = await attacked.s3('POST', '/victim?delete', attacked.mallory, { body });
    expect(answer.body, key).not.toContain('<Deleted>');
  }
});

const json = { 'content-type': 'application/json' };

test.each([
  [
    'a branch named twice',
    'POST',
    '/repositories/hers/branches',
    '{"name":"x","source":"main","name":"../x"}',
  ],
  ['a prototype', 'POST', '/repositories/hers/branches', '{"__proto__":{"name":"planted","source":"main"}}'],
  ['a constructor', 'POST', '/auth/users', '{"constructor":{"prototype":{"id":"planted"}}}'],
  ['a number beyond counting', 'POST', '/repositories/hers/branches', '{"name":1e999,"source":"main"}'],
  ['half a letter', 'POST', '/repositories/hers/branches', '{"name":"\\ud800","source":"main"}'],
  ['a zero', 'POST', '/repositories/hers/branches', '{"name":"a\\u0000b","source":"main"}'],
  ['comments', 'POST', '/repositories/hers/branches', '{/**/"name":"x","source":"main"}'],
  ['another language', 'POST', '/repositories/hers/branches', 'name: x\nsource: main'],
  ['lists without end', 'POST', '/repositories/hers/branches', '['.repeat(1_000_000)],
  ['keys without end', 'POST', '/repositories/hers/branches', `{${'"a":{'.repeat(200_000)}`],
  ['bytes that are no text', 'POST', '/repositories/hers/branches', '{"name":"\u00ff\u00fe"'],
])('a body with %s is refused', async (_kind, method, path, body) => {
  for (const as of [attacked.mallory, attacked.target.admin]) {
    const answer = await attacked.call(method, path, { as, body, headers: json });
    expect([400, 401]).toContain(answer.status);
  }
});

test('what is checked is what is done', async () => {
  // The permission of a policy, a user, a pull request speaks of a field of the body: the one that counts.
  const twice = '{"id":"planted","id":"other","statement":[]}';
  expect(
    (await attacked.call('POST', '/auth/users', { as: attacked.mallory, body: twice, headers: json })).status,
  ).toBe(401);
  const copy = { src_path: 'public/a', src_ref: 'main', SRC_PATH: 'secret/plan' };
  const path = '/repositories/victim/branches/main/objects/copy?dest_path=public%2Fa&dest_path=stolen';
  expect([400, 401]).toContain(
    (await attacked.call('POST', path, { as: attacked.mallory, body: copy })).status,
  );
  const read = '/repositories/victim/refs/main/objects?path=public%2Fa&path=secret%2Fplan';
  const answer = await attacked.call('GET', read, { as: attacked.denied });
  if (answer.status === 200) expect(answer.body).toBe('a of victim');
});

test.each([
  ['no end', '--b\r\ncontent-disposition: form-data; name="content"\r\n\r\nplanted'],
  ['no name', '--b\r\n\r\nplanted\r\n--b--\r\n'],
  ['a head that never ends', `--b\r\n${'a'.repeat(20_000)}\r\n--b--\r\n`],
  ['a head without end', `--b\r\n${'a'.repeat(500_000)}\r\n\r\nplanted\r\n--b--\r\n`],
  ['heads without end', `--b\r\n${'a: b\r\n'.repeat(100_000)}\r\nplanted\r\n--b--\r\n`],
  ['parts without end', '--b\r\ncontent-disposition: form-data; name="x"\r\n\r\ny\r\n'.repeat(20_000)],
  ['another boundary', '--c\r\ncontent-disposition: form-data; name="content"\r\n\r\nplanted\r\n--c--\r\n'],
])('a form with %s stores nothing', async (_kind, body) => {
  const path = '/repositories/hers/branches/main/objects?path=planted';
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const answer = await attacked.call('POST', path, { as: attacked.mallory, body, headers });
  expect(answer.status).toBe(400);
});

test.each([
  ['a size with a sign', '+3\r\nabc\r\n0\r\n\r\n'],
  ['a size beyond counting', 'ffffffffffffffff\r\nabc\r\n0\r\n\r\n'],
  ['a size line without end', `3;${'x'.repeat(100_000)}\r\nabc\r\n0\r\n\r\n`],
  ['no end', '3\r\nabc\r\n'],
  ['trailers without end', `3\r\nabc\r\n0\r\n${'a:b\r\n'.repeat(50_000)}\r\n`],
  ['more than announced', '4\r\nabcd\r\n0\r\n\r\n'],
])('chunks of S3 with %s store nothing', async (_kind, body) => {
  const headers = { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': '3' };
  const target = '/hers/main/planted';
  const answer = await attacked.s3('PUT', target, attacked.mallory, {
    body,
    headers,
    payloadHash: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER',
  });
  expect([400, 403]).toContain(answer.status);
});
