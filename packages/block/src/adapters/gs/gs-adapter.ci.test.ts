import { createSign } from 'node:crypto';
import { testServerOrSkip } from '@svc/testing';
import { describe, it } from 'vitest';
import { createBucketOn, gsConfigFor, testKey } from '../../../test/test-gs-bucket.ts';
import { describeBlockAdapter } from '../../suite/index.ts';
import { GsAdapter } from './gs-adapter.ts';

const server = await testServerOrSkip('fake-gcs');

if (server === undefined) {
  describe('block adapter gs', () => {
    it('is skipped: the server cannot be had here', ({ skip }) => skip());
  });
} else {
  describeBlockAdapter('gs on fake-gcs-server', async () => {
    const config = gsConfigFor(server);
    const namespace = `gs://${await createBucketOn(server)}/prefix`;
    const signer = {
      email: () => Promise.resolve('svc@example.iam.gserviceaccount.com'),
      sign: async (text: string) => createSign('RSA-SHA256').update(text).sign(testKey.privateKey),
    };
    const adapter = new GsAdapter(config, { token: undefined, signer });
    return {
      adapter,
      namespace,
      minPartSize: 1,
      holdsPartsBack: false,
      namesDownloads: false,
      close: () => adapter.close(),
    };
  });
}
