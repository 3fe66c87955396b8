import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import { framingSuite } from './framing-suite.ts';
import { multipartRaceSuite } from './multipart-race-suite.ts';
import { multipartSuite } from './multipart-suite.ts';
import type { S3TestClient } from './s3-test-client.ts';
import { versitygwStore } from './versitygw-store.ts';

const store = await versitygwStore();

describe.skipIf(store === undefined)('on an S3 store', () => {
  const open = () => Promise.resolve(store ?? ({ type: 'mem' } as const));
  multipartSuite('S3', open);
  multipartRaceSuite('S3', open);
  framingSuite('S3', open);

  describe('objects', () => {
    let gateway: TestGateway;
    let s3: S3TestClient;

    beforeAll(async () => {
      gateway = await composeGateway({ block: await open() });
      await gateway.createRepository('redirects');
      s3 = gateway.client();
    });
    afterAll(() => gateway.close());

    it('send clients that ask for it to the store itself', async () => {
      await s3.put('/redirects/main/x', 'content');
      const reply = await s3.get('/redirects/main/x', {
        headers: { 'user-agent': 'a s3RedirectionSupport b' },
      });
      expect(reply.status).toBe(307);
      expect(await (await fetch(reply.headers.location ?? '')).text()).toBe('content');
      expect((await s3.get('/redirects/main/x')).text).toBe('content');
    });

    it('tell when a part is too small for the store', async () => {
      const path = '/redirects/main/small-parts';
      const uploadId = (await s3.post(path, '', { query: 'uploads' })).xml('UploadId') ?? '';
      let parts = '';
      for (const number of [1, 2]) {
        const { headers } = await s3.put(path, 'tiny', {
          query: `partNumber=${number}&uploadId=${uploadId}`,
        });
        parts += `<Part><PartNumber>${number}</PartNumber><ETag>${headers.etag}</ETag></Part>`;
      }
      const document = `<CompleteMultipartUpload>${parts}</CompleteMultipartUpload>`;
      const refused = await s3.post(path, document, { query: `uploadId=${uploadId}` });
      expect(refused).toMatchObject({ status: 400, code: 'EntityTooSmall' });
    });

    it('do not appear after a bad checksum, small or large', async () => {
      for (const size of [10, 9_000_000])
        expect(
          await s3.put('/redirects/main/bad', Buffer.alloc(size, 1), {
            headers: { 'x-amz-checksum-crc32': 'AAAAAA==' },
          }),
        ).toMatchObject({ status: 400, code: 'BadDigest' });
      expect((await s3.get('/redirects/main/bad')).status).toBe(404);
    });
  });
});
