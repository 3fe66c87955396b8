import { createSign } from 'node:crypto';
import { startFaultProxy, testServerOrSkip } from '@svc/testing';
import { describe, it } from 'vitest';
import { expectDocumented, gsNeeds } from '../../../test/permissions.ts';
import { createBucketOn, gsConfigFor, testKey } from '../../../test/test-gs-bucket.ts';
import { describeBlockAdapter } from '../../suite/index.ts';
import { GsAdapter } from './gs-adapter.ts';

const server = await testServerOrSkip('fake-gcs');

if (server === undefined) {
  describe('block adapter gs', () => {
    it('is skipped: the server cannot be had here', ({ skip }) => skip());
  });
} else {
  const proxy = await startFaultProxy(server.endpoint, () => 'pass');
  describeBlockAdapter('gs on fake-gcs-server', async () => {
    const config = gsConfigFor(proxy);
    const namespace = `gs://${await createBucketOn(server)}/prefix`;
    const signer = {
      email: () => Promise.resolve('svc@example.iam.gserviceaccount.com'),
      sign: async (text: string) => createSign('RSA-SHA256').update(text).sign(testKey.privateKey),
    };
    const adapter = new GsAdapter(config, { token: undefined, signer });
    // The server answers to signed URLs of its own name only.
    const direct = new GsAdapter(gsConfigFor(server), { token: undefined, signer });
    adapter.presign = (pointer, mode, options) => direct.presign(pointer, mode, options);
    return {
      adapter,
      namespace,
      minPartSize: 1,
      holdsPartsBack: false,
      namesDownloads: false,
      close: () => adapter.close(),
    };
  });

  it('needs what the documentation names', async () => {
    await proxy.close();
    expectDocumented('google-cloud.md', /storage\.objects\.\w+/g, proxy.seen, gsNeeds);
  });
}
