import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { tempDir } from '@svc/testing';
import { expect, test } from 'vitest';
import type { BlockAdapter, ObjectPointer } from '../../adapter.ts';
import { openLocalAdapter } from './local-adapter.ts';

const at = (identifier: string): ObjectPointer => ({
  storageNamespace: 'local://ns',
  identifier,
  identifierType: 'relative',
});

async function withStore(path: string, use: (adapter: BlockAdapter) => Promise<void>): Promise<void> {
  const adapter = await openLocalAdapter({ type: 'local', path });
  try {
    await use(adapter);
  } finally {
    await adapter.close();
  }
}

test('makes an object of a single part without copying it', async () => {
  const root = tempDir();
  await withStore(root, async (adapter) => {
    const pointer = at('x');
    const uploadId = await adapter.createMultipart(pointer);
    const { etag } = await adapter.uploadPart({ pointer, uploadId }, 1, Buffer.from('content'));
    const part = statSync(join(root, '.svc-multipart', uploadId, `00001.${etag}`));
    const { size } = await adapter.completeMultipart({ pointer, uploadId }, [{ partNumber: 1, etag }]);
    const object = statSync(join(root, 'ns', 'x'));
    expect([size, object.ino, object.nlink]).toEqual([7, part.ino, 1]);
  });
});

test('shows nothing of a part before it is remembered, and keeps of several the one remembered last', async () => {
  const root = tempDir();
  await withStore(root, async (adapter) => {
    const pointer = at('x');
    const uploadId = await adapter.createMultipart(pointer);
    const folder = join(root, '.svc-multipart', uploadId);
    const remembered: string[] = [];
    const upload = (content: string): Promise<{ etag: string }> =>
      adapter.uploadPart({ pointer, uploadId }, 1, Buffer.from(content), async ({ etag }) => {
        // Nothing of the part may be seen before it is remembered, nor of one that was remembered earlier.
        const before = readdirSync(folder);
        await new Promise((resolve) => setTimeout(resolve, 5));
        expect(readdirSync(folder)).toEqual(before);
        remembered.push(etag);
      });
    const refused = adapter.uploadPart({ pointer, uploadId }, 1, Buffer.from('refused'), () =>
      Promise.reject(new Error('not accepted')),
    );
    await expect(refused).rejects.toThrow('not accepted');
    await Promise.all(['one', 'two', 'three'].map(upload));
    expect(readdirSync(folder).filter((name) => name !== 'target')).toEqual([`00001.${remembered.at(-1)}`]);
  });
});

test('takes the MD5 a caller computed on the way', async () => {
  await withStore(tempDir(), async (adapter) => {
    const pointer = at('x');
    const uploadId = await adapter.createMultipart(pointer);
    const etag = '0123456789abcdef0123456789abcdef';
    const part = await adapter.uploadPart({ pointer, uploadId }, 1, {
      stream: Readable.from([Buffer.from('x')]),
      size: 1,
      md5: () => etag,
    });
    expect(part.etag).toBe(etag);
    await adapter.completeMultipart({ pointer, uploadId }, [{ partNumber: 1, etag }]);
  });
});

test('what the caller stores of an upload is stored beside it, and without it there is no upload', async () => {
  const root = tempDir();
  await withStore(root, async (adapter) => {
    const told: string[] = [];
    const uploadId = await adapter.createMultipart(at('x'), {}, async (id) => void told.push(id));
    expect(told).toEqual([uploadId]);
    const refused = adapter.createMultipart(at('y'), {}, () => Promise.reject(new Error('not stored')));
    await expect(refused).rejects.toThrow('not stored');
    expect(readdirSync(join(root, '.svc-multipart'))).toEqual([uploadId]);
  });
});
