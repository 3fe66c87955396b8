import { describe, expect, it } from 'vitest';
import type { BlockSuite } from './block-suite.ts';
import { rejectsWith, contentOf } from './bodies.ts';

export function presignCases(suite: BlockSuite): void {
  const { at } = suite;

  describe('pre-signed URLs', () => {
    it('work where the store has them', async () => {
      const pointer = at('dir/pre signed +.txt');
      if (!suite.adapter.info.preSignSupport) {
        await rejectsWith('not_supported', suite.adapter.presign(pointer, 'read'));
        await rejectsWith('not_supported', suite.adapter.presign(pointer, 'write'));
        await rejectsWith('not_supported', suite.adapter.presignPart({ pointer, uploadId: 'x' }, 1));
        return;
      }
      const write = await suite.adapter.presign(pointer, 'write');
      expect(write.expiry.getTime()).toBeGreaterThan(Date.now());
      // As clients do: Azure wants to know the kind of blob.
      const headers = { 'x-ms-blob-type': 'BlockBlob' };
      const put = await fetch(write.url, { method: 'PUT', body: 'by url', headers });
      expect([200, 201]).toContain(put.status);
      expect((await contentOf(await suite.adapter.get(pointer))).toString()).toBe('by url');
      const read = await suite.adapter.presign(pointer, 'read', { fileName: 'näme "1".txt' });
      const response = await fetch(read.url);
      expect(await response.text()).toBe('by url');
      expect(read.url).toContain('attachment');
      if (suite.fixture.namesDownloads ?? true)
        expect(response.headers.get('content-disposition')).toContain('attachment');
    });

    it('upload parts where the store has them', async () => {
      if (!suite.adapter.info.preSignMultipartUpload) return;
      const pointer = at('multi by url');
      const upload = { pointer, uploadId: await suite.adapter.createMultipart(pointer) };
      const { url } = await suite.adapter.presignPart(upload, 1);
      const put = await fetch(url, { method: 'PUT', body: 'one part' });
      expect(put.status).toBe(200);
      const etag = put.headers.get('etag')?.replaceAll('"', '') ?? '';
      await suite.adapter.completeMultipart(upload, [{ partNumber: 1, etag }]);
      expect((await contentOf(await suite.adapter.get(pointer))).toString()).toBe('one part');
    });
  });
}
