import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { azureStore, gsStore } from './cloud-stores.ts';
import { composeGateway, type TestGateway } from './compose.ts';
import { framingSuite } from './framing-suite.ts';
import { multipartRaceSuite } from './multipart-race-suite.ts';
import { multipartSuite } from './multipart-suite.ts';
import type { S3TestClient } from './s3-test-client.ts';

const stores = { Azurite: await azureStore(), 'fake-gcs-server': await gsStore() };

describe.each(Object.entries(stores))('on %s', (name, store) => {
  if (store === undefined) {
    it('is skipped: the server cannot be had here', ({ skip }) => skip());
    return;
  }
  const open = () => Promise.resolve(store);
  multipartSuite(name, open);
  multipartRaceSuite(name, open);
  framingSuite(name, open);

  describe('objects', () => {
    let gateway: TestGateway;
    let s3: S3TestClient;

    beforeAll(async () => {
      gateway = await composeGateway({ block: store });
      await gateway.createRepository('objects');
      s3 = gateway.client();
    });
    afterAll(() => gateway.close());

    it('do not appear after a bad checksum, small or large', async () => {
      for (const size of [10, 9_000_000])
        expect(
          await s3.put('/objects/main/bad', Buffer.alloc(size, 1), {
            headers: { 'x-amz-checksum-crc32': 'AAAAAA==' },
          }),
        ).toMatchObject({ status: 400, code: 'BadDigest' });
      expect((await s3.get('/objects/main/bad')).status).toBe(404);
    });
  });
});
