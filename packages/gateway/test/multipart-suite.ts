import { setTimeout } from 'node:timers/promises';
import { createHash } from 'node:crypto';
import type { BlockStoreConfig } from '@svc/block';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import type { S3Response, S3TestClient } from './s3-test-client.ts';

const partSize = 5 * 1024 * 1024;
const partA = Buffer.alloc(partSize, 'a');
const partB = Buffer.alloc(10, 'b');
const etagA = '79b281060d337b9b2b84ccf390adcf74';
const etagB = '82136b4240d6ce4ea7d03e51469a393b';

/** Multipart uploads behave the same on every kind of store. */
export function multipartSuite(type: string, open: () => Promise<BlockStoreConfig>): void {
  describe(`multipart uploads on the ${type} store`, () => {
    let gateway: TestGateway;
    let s3: S3TestClient;

    beforeAll(async () => {
      gateway = await composeGateway({ block: await open() });
      for (const name of ['repo', 'repo2']) await gateway.createRepository(name);
      await gateway.engine.branches.create({
        repository: 'repo',
        name: 'dev',
        source: 'main',
        actor: { committer: 'admin' },
      });
      s3 = gateway.client();
    });
    afterAll(() => gateway.close());

    const create = async (path: string, headers: Record<string, string> = {}): Promise<string> => {
      const reply = await s3.post(path, '', { query: 'uploads=', headers });
      expect(reply.status).toBe(200);
      return reply.xml('UploadId') ?? '';
    };
    const part = (
      path: string,
      uploadId: string,
      number: number | string,
      body: Buffer,
    ): Promise<S3Response> => s3.put(path, body, { query: `partNumber=${number}&uploadId=${uploadId}` });
    const complete = (
      path: string,
      uploadId: string,
      parts: readonly (readonly [number, string])[],
      headers: Record<string, string> = {},
    ): Promise<S3Response> =>
      s3.post(
        path,
        `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts
          .map(([number, etag]) => `<Part><ETag>"${etag}"</ETag><PartNumber>${number}</PartNumber></Part>`)
          .join('')}</CompleteMultipartUpload>`,
        { query: `uploadId=${uploadId}`, headers },
      );

    it('make one object with the ETag of its parts', async () => {
      const path = '/repo/main/dir/m p+1';
      const id = await create(path, {
        'content-type': 'a/b',
        'x-amz-meta-k': 'v',
        'cache-control': 'no-cache',
      });
      expect(id).toMatch(/^[A-Za-z0-9_-]{20,128}$/);
      expect((await part(path, id, 2, partB)).headers.etag).toBe(`"${etagB}"`);
      expect((await part(path, id, 1, partA)).headers.etag).toBe(`"${etagA}"`);
      const listed = await s3.get(path, { query: `uploadId=${id}` });
      expect(listed.all('PartNumber')).toEqual(['1', '2']);
      expect(listed.all('Size')).toEqual([String(partSize), '10']);
      expect(listed.xml('UploadId')).toBe(id);
      expect(listed.all('ETag')).toEqual([`"${etagA}"`, `"${etagB}"`]);
      const firstPage = await s3.get(path, { query: `max-parts=1&uploadId=${id}` });
      expect(firstPage.xml('IsTruncated')).toBe('true');
      expect(firstPage.xml('NextPartNumberMarker')).toBe('1');
      const secondPage = await s3.get(path, { query: `part-number-marker=1&uploadId=${id}` });
      expect(secondPage.all('PartNumber')).toEqual(['2']);
      expect((await s3.get(path, { query: `max-parts=x&uploadId=${id}` })).code).toBe('InvalidArgument');
      const wrongSize = await complete(path, id, [[1, etagA]], { 'x-amz-mp-object-size': '7' });
      expect(wrongSize).toMatchObject({ status: 400, code: 'InvalidRequest' });
      const done = await complete(path, id, [
        [1, etagA],
        [2, etagB],
      ]);
      const etag = '"8b0be7847da5564ae08e97af63b60885-2"';
      expect(done.status).toBe(200);
      expect(done.xml('ETag')).toBe(etag);
      expect(done.xml('Location')).toBe(`http://127.0.0.1:${gateway.port}/repo/main/dir/m%20p%2B1`);
      expect(done.xml('Key')).toBe('main/dir/m p+1');
      const head = await s3.head(path);
      expect(head.headers).toMatchObject({
        etag,
        'content-length': String(partSize + 10),
        'content-type': 'a/b',
        'x-amz-meta-k': 'v',
        'cache-control': 'no-cache',
      });
      const got = await s3.get(path);
      expect(got.headers.etag).toBe(etag);
      expect(got.body.equals(Buffer.concat([partA, partB]))).toBe(true);
      for (const version of [1, 2])
        expect(
          (await s3.get('/repo', { query: `list-type=${version}&prefix=main%2Fdir%2F` })).xml('ETag'),
        ).toBe(etag);
      const entry = await gateway.engine.objects.stat({ repository: 'repo', ref: 'main', path: 'dir/m p+1' });
      expect(entry.etag).toBe('8b0be7847da5564ae08e97af63b60885-2');
      const again = await complete(path, id, [
        [1, etagA],
        [2, etagB],
      ]);
      expect(again).toMatchObject({ status: 200 });
      expect(again.xml('ETag')).toBe(etag);
      expect((await part(path, id, 1, partB)).code).toBe('NoSuchUpload');
    });

    it('use only the listed parts, and only right ones', async () => {
      const path = '/repo/main/listed';
      const id = await create(path);
      await part(path, id, 1, partB);
      await part(path, id, 2, Buffer.from('second'));
      const second = createHash('md5').update('second').digest('hex');
      const refuse = async (parts: readonly (readonly [number, string])[], code: string): Promise<void> => {
        expect(await complete(path, id, parts)).toMatchObject({ status: 400, code });
        expect((await s3.head(path)).status).toBe(404);
      };
      await refuse([], 'MalformedXML');
      await refuse(
        [
          [2, second],
          [1, etagB],
        ],
        'InvalidPartOrder',
      );
      await refuse(
        [
          [1, etagB],
          [1, etagB],
        ],
        'InvalidPartOrder',
      );
      await refuse([[1, second]], 'InvalidPart');
      await refuse([[3, second]], 'InvalidPart');
      expect(await s3.post(path, 'nonsense', { query: `uploadId=${id}` })).toMatchObject({
        code: 'MalformedXML',
      });
      expect((await complete(path, id, [[1, etagB]])).status).toBe(200);
      expect((await s3.get(path)).text).toBe('bbbbbbbbbb');
    });

    it('replace a part that is sent again', async () => {
      const path = '/repo/main/replaced';
      const id = await create(path);
      await part(path, id, 1, Buffer.from('first'));
      await part(path, id, 1, partB);
      expect((await complete(path, id, [[1, createHash('md5').update('first').digest('hex')]])).code).toBe(
        'InvalidPart',
      );
      expect((await complete(path, id, [[1, etagB]])).status).toBe(200);
      expect((await s3.get(path)).text).toBe('bbbbbbbbbb');
    });

    it('belong to one repository, branch and path', async () => {
      const path = '/repo/main/bound';
      const id = await create(path);
      await part(path, id, 1, partB);
      for (const other of [
        '/repo/main/other',
        '/repo/dev/bound',
        '/repo2/main/bound',
        '/repo/main~1/bound',
      ]) {
        for (const reply of [
          await part(other, id, 1, partB),
          await complete(other, id, [[1, etagB]]),
          await s3.get(other, { query: `uploadId=${id}` }),
          await s3.delete(other, { query: `uploadId=${id}` }),
        ])
          expect(reply).toMatchObject({ status: 404, code: 'NoSuchUpload' });
      }
      expect(await part(path, 'x'.repeat(32), 1, partB)).toMatchObject({ status: 404, code: 'NoSuchUpload' });
      expect(await part(path, 'a%2Fb', 1, partB)).toMatchObject({ status: 404, code: 'NoSuchUpload' });
      for (const number of ['0', '10001', 'x', '-1', ''])
        expect(await part(path, id, number, partB)).toMatchObject({ status: 400, code: 'InvalidArgument' });
      expect((await s3.delete(path, { query: `uploadId=${id}` })).status).toBe(204);
    });

    it('verify parts and forget wrong ones', async () => {
      const path = '/repo/main/verified';
      const id = await create(path);
      const send = (checksum: string, size: number) =>
        s3.put(path, Buffer.alloc(size, 'b'), {
          query: `partNumber=1&uploadId=${id}`,
          headers: { 'x-amz-checksum-crc32': checksum },
        });
      for (const size of [10, 2_000_000]) expect((await send('AAAAAA==', size)).code).toBe('BadDigest');
      expect((await s3.get(path, { query: `uploadId=${id}` })).all('PartNumber')).toEqual([]);
      const good = await s3.put(path, partB, {
        query: `partNumber=1&uploadId=${id}`,
        headers: { 'x-amz-checksum-crc32': 'Qi9M+A==' },
      });
      expect(good.headers['x-amz-checksum-crc32'] ?? good.code).toBe('Qi9M+A==');
    });

    it('honour conditions when they complete', async () => {
      const path = '/repo/main/conditional';
      const id = await create(path);
      await part(path, id, 1, partB);
      await s3.put(path, 'there first');
      const refused = await complete(path, id, [[1, etagB]], { 'if-none-match': '*' });
      expect(refused).toMatchObject({ status: 412, code: 'PreconditionFailed' });
      expect((await s3.get(path)).text).toBe('there first');
      expect((await s3.get(path, { query: `uploadId=${id}` })).all('PartNumber')).toEqual(['1']);
      await s3.delete(path);
      expect((await complete(path, id, [[1, etagB]], { 'if-none-match': '*' })).status).toBe(200);
    });

    it('copy ranges of objects of other repositories', async () => {
      const source = Buffer.concat([partA, partB]);
      await s3.put('/repo2/main/source', source);
      const path = '/repo/main/part-copied';
      const id = await create(path);
      const copy = (number: number, range: string, from = 'repo2/main/source') =>
        s3.put(path, '', {
          query: `partNumber=${number}&uploadId=${id}`,
          headers: {
            'x-amz-copy-source': from,
            ...(range === '' ? {} : { 'x-amz-copy-source-range': range }),
          },
        });
      const first = await copy(1, `bytes=0-${partSize - 1}`);
      expect(first.text).toContain('<CopyPartResult xmlns=');
      const second = await copy(2, `bytes=${partSize}-${partSize + 9}`);
      for (const bad of [`bytes=0-${source.length}`, 'bytes=5-', 'nonsense'])
        expect(await copy(3, bad)).toMatchObject({ status: 400, code: 'InvalidArgument' });
      expect(await copy(3, '', 'repo2/main/none')).toMatchObject({ status: 404, code: 'NoSuchKey' });
      const done = await complete(path, id, [
        [1, (first.xml('ETag') ?? '').replaceAll('"', '')],
        [2, (second.xml('ETag') ?? '').replaceAll('"', '')],
      ]);
      expect(done.xml('ETag')).toBe('"8b0be7847da5564ae08e97af63b60885-2"');
      expect((await s3.get(path)).body.equals(source)).toBe(true);
    });

    it('are listed and can be aborted', async () => {
      const name = `list-${type.toLowerCase()}`;
      await gateway.createRepository(name);
      const path = (key: string) => `/${name}/main/${key}`;
      const ids = [await create(path('a1'))];
      // Uploads of one key come in the order of their times, which are in milliseconds.
      await setTimeout(2);
      ids.push(await create(path('a1')), await create(path('b/x')));
      const list = (query: string) => s3.get(`/${name}`, { query: `uploads&${query}` });
      const first = await list('max-uploads=1');
      expect(first.all('UploadId')).toEqual([ids[0]]);
      expect(first.xml('IsTruncated')).toBe('true');
      const [keyMarker = '', idMarker = ''] = [first.xml('NextKeyMarker'), first.xml('NextUploadIdMarker')];
      const rest = await list(`key-marker=${encodeURIComponent(keyMarker)}&upload-id-marker=${idMarker}`);
      expect(rest.all('UploadId')).toEqual([ids[1], ids[2]]);
      expect((await list('prefix=main%2Fa')).all('Key')).toEqual(['main/a1', 'main/a1']);
      const folded = await list('prefix=main%2F&delimiter=%2F');
      expect(folded.text).toContain('<CommonPrefixes><Prefix>main/b/</Prefix></CommonPrefixes>');
      expect((await list('max-uploads=-1')).code).toBe('InvalidArgument');
      const all = await list('');
      const [keys, found] = [all.all('Key'), all.all('UploadId')];
      for (const [i, key] of keys.entries())
        expect((await s3.delete(`/${name}/${key}`, { query: `uploadId=${found[i]}` })).status).toBe(204);
      expect((await list('')).all('UploadId')).toEqual([]);
      expect((await s3.get(path('a1'), { query: `uploadId=${ids[0]}` })).code).toBe('NoSuchUpload');
      expect((await s3.delete(path('a1'), { query: `uploadId=${ids[0]}` })).code).toBe('NoSuchUpload');
    });
  });
}
