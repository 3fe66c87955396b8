import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import { createUser } from './create-user.ts';
import type { S3Response, S3TestClient } from './s3-test-client.ts';

let gateway: TestGateway;
let s3: S3TestClient;
const actor = { committer: 'admin' };

beforeAll(async () => {
  gateway = await composeGateway();
  await gateway.createRepository('repo');
  s3 = gateway.client();
  const { engine } = gateway;
  await s3.put('/repo/main/a/1', '1');
  await engine.commits.create({ repository: 'repo', branch: 'main', message: 'first', actor });
  await engine.tags.create({ repository: 'repo', id: 'v1', ref: 'main', actor });
  for (const key of ['a/2', 'b.json', 'c d+e%.txt']) await s3.put(`/repo/main/${key}`, key);
  await engine.commits.create({ repository: 'repo', branch: 'main', message: 'second', actor });
  for (const name of ['dev', 'dev-2'])
    await engine.branches.create({ repository: 'repo', name, source: 'main', actor });
});
afterAll(() => gateway.close());

const list = (query: string): Promise<S3Response> => s3.get('/repo', { query: `list-type=2&${query}` });
const prefixes = (reply: S3Response): string[] =>
  [...reply.text.matchAll(/<CommonPrefixes><Prefix>([^<]*)</g)].map((match) => match[1] ?? '');

describe('branches', () => {
  it('are the common prefixes of the bucket', async () => {
    for (const query of ['delimiter=%2F', ''])
      expect(prefixes(await list(query))).toEqual(['dev/', 'dev-2/', 'main/']);
    expect(prefixes(await list('delimiter=%2F&prefix=de'))).toEqual(['dev/', 'dev-2/']);
    expect(prefixes(await s3.get('/repo', { query: 'marker=dev%2F' }))).toEqual(['dev-2/', 'main/']);
    const page = await s3.get('/repo', { query: 'delimiter=%2F&max-keys=2' });
    expect(page.xml('IsTruncated')).toBe('true');
    expect(page.xml('NextMarker')).toBe('dev-2/');
    expect(page.xml('Key')).toBeUndefined();
  });

  it('need the permission of what is asked', async () => {
    const resource = 'arn:svc:fs:::repository/repo';
    const branches = await createUser(gateway, 'branches', [
      { effect: 'allow', action: ['fs:ListBranches'], resource },
    ]);
    const objects = await createUser(gateway, 'objects', [
      { effect: 'allow', action: ['fs:ListObjects'], resource },
    ]);
    const statuses = async (query: string) => [
      (await branches.client.get('/repo', { query })).status,
      (await objects.client.get('/repo', { query })).status,
    ];
    expect(await statuses('delimiter=%2F')).toEqual([200, 403]);
    expect(await statuses('delimiter=%2F&prefix=de')).toEqual([403, 200]);
    expect(await statuses('')).toEqual([403, 200]);
    expect(await statuses('delimiter=%2F&prefix=main%2F')).toEqual([403, 200]);
  });
});

describe('objects', () => {
  it('are listed with their properties', async () => {
    const reply = await list('prefix=main%2Fb');
    expect(reply.text).toMatch(
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<ListBucketResult xmlns="http:\/\/s3.amazonaws.com\/doc\/2006-03-01\/"><Name>repo<\/Name><Prefix>main\/b<\/Prefix><MaxKeys>1000<\/MaxKeys><KeyCount>1<\/KeyCount><IsTruncated>false<\/IsTruncated><Contents><Key>main\/b.json<\/Key><LastModified>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.\d{3}Z<\/LastModified><ETag>&quot;[0-9a-f]{32}&quot;<\/ETag><Size>6<\/Size><StorageClass>STANDARD<\/StorageClass><\/Contents><\/ListBucketResult>$/,
    );
    expect((await list('prefix=main%2Fb&fetch-owner=true')).xml('ID')).toBe('admin');
    const first = await s3.get('/repo', { query: 'prefix=main%2Fb' });
    expect(first.text).toContain('<Marker></Marker><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>');
  });

  it('come in pages with plain tokens', async () => {
    const found: string[] = [];
    let token = '';
    let pages = 0;
    do {
      const page = await list(
        `prefix=main%2F&delimiter=%2F&max-keys=1${token === '' ? '' : `&continuation-token=${token}`}`,
      );
      found.push(...prefixes(page), ...page.all('Key'));
      token = page.xml('NextContinuationToken') ?? '';
      expect(token).toMatch(/^[A-Za-z0-9_-]*$/);
      expect(page.xml('IsTruncated')).toBe(String(token !== ''));
      pages++;
    } while (token !== '');
    expect(found).toEqual(['main/a/', 'main/b.json', 'main/c d+e%.txt']);
    expect(pages).toBe(3);
    const next = await s3.get('/repo', { query: 'prefix=main%2F&delimiter=%2F&max-keys=1' });
    expect(next.xml('NextMarker')).toBe('main/a/');
  });

  it('are encoded on request', async () => {
    const reply = await list('prefix=main%2Fc&encoding-type=url');
    expect(reply.xml('Key')).toBe('main/c%20d%2Be%25.txt');
    expect(reply.xml('EncodingType')).toBe('url');
    expect(await list('encoding-type=base64')).toMatchObject({ status: 400, code: 'InvalidArgument' });
    await s3.put('/repo/dev/\u0001', 'x');
    expect((await list('prefix=dev%2F&encoding-type=url')).all('Key')).toContain('dev/%01');
    expect((await list('prefix=dev%2F')).text).toContain('<Key>dev/&#x1;</Key>');
  });

  it('fold at any delimiter', async () => {
    const reply = await list('prefix=main%2F&delimiter=.json');
    expect(prefixes(reply)).toEqual(['main/b.json']);
    expect(reply.all('Key')).toEqual(['main/a/1', 'main/a/2', 'main/c d+e%.txt']);
  });

  it('take only sensible page sizes', async () => {
    const none = await list('prefix=main%2F&max-keys=0');
    expect(none.all('Key')).toEqual([]);
    expect(none.xml('IsTruncated')).toBe('false');
    for (const bad of ['-1', 'x', '1.5'])
      expect(await list(`prefix=main%2F&max-keys=${bad}`)).toMatchObject({
        status: 400,
        code: 'InvalidArgument',
      });
    expect((await list('prefix=main%2F&max-keys=')).xml('MaxKeys')).toBe('1000');
    expect((await list('prefix=main%2F&max-keys=99999')).xml('MaxKeys')).toBe('10000');
    expect(await s3.get('/repo', { query: 'list-type=3' })).toMatchObject({
      status: 400,
      code: 'BadRequest',
    });
    expect(await list(`prefix=${'p'.repeat(1025)}`)).toMatchObject({ status: 400, code: 'BadRequest' });
    expect(await list('prefix=main%2F&continuation-token=%25')).toMatchObject({
      status: 400,
      code: 'InvalidArgument',
    });
  });

  it.each([
    ['aaa', 4],
    ['main', 4],
    ['main%2F', 4],
    ['main%2Fa%2F1', 3],
    ['zzz', 0],
  ])('start after %s', async (marker, count) => {
    expect((await list(`prefix=main%2F&start-after=${marker}`)).all('Key')).toHaveLength(count);
  });

  it.each([
    ['v1%2F', ['v1/a/1']],
    ['main~1%2F', ['main~1/a/1']],
    ['nope%2F', []],
    ['%2F', []],
    ['%2F%2Fx', []],
    ['~%2F', []],
    ['%2Fmain%2Fb', ['main/b.json']],
  ])('of the prefix %s', async (prefix, keys) => {
    for (const type of [1, 2]) {
      const reply = await s3.get('/repo', { query: `list-type=${type}&prefix=${prefix}` });
      expect(reply.status).toBe(200);
      expect(reply.all('Key')).toEqual(keys);
    }
  });
});
