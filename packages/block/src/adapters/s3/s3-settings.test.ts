import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import { tempDir } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import type { BlockAdapter } from '../../adapter.ts';
import type { S3StoreConfig } from '../../config.ts';
import { credentials, at } from '../../../test/s3-stub.ts';
import { Renewing } from '../../remote/renewing.ts';
import { openCredentials } from './credentials.ts';
import { S3Endpoint } from './endpoint.ts';
import { piecesOf, unitsOf } from '../../remote/request-body.ts';
import { openS3Adapter } from './s3-adapter.ts';
import { copyRanges, partSize, uploadInParts, type PartUploader } from '../../remote/transfers.ts';

describe('endpoints', () => {
  it('put the bucket where it belongs', () => {
    const locate = (endpoint: string | undefined, pathStyle: boolean, bucket: string): string => {
      const { origin, path } = new S3Endpoint(endpoint, pathStyle, 's3.endpoint').locate(
        'eu-west-1',
        bucket,
        'k/ä b',
      );
      return origin + path;
    };
    expect(locate(undefined, false, 'buck')).toBe('https://buck.s3.eu-west-1.amazonaws.com/k/%C3%A4%20b');
    expect(locate(undefined, true, 'buck')).toBe('https://s3.eu-west-1.amazonaws.com/buck/k/%C3%A4%20b');
    expect(locate(undefined, false, 'with.dots')).toBe(
      'https://s3.eu-west-1.amazonaws.com/with.dots/k/%C3%A4%20b',
    );
    expect(locate('https://store:9000/base/', false, 'buck')).toBe(
      'https://buck.store:9000/base/k/%C3%A4%20b',
    );
    expect(locate('http://127.0.0.1:9000', false, 'buck')).toBe('http://127.0.0.1:9000/buck/k/%C3%A4%20b');
    expect(locate('http://[::1]:9000', false, 'buck')).toBe('http://[::1]:9000/buck/k/%C3%A4%20b');
    expect(() => locate('store:9000', false, 'buck')).toThrow('is not an http:// or https:// URL');
  });
});

describe('credentials', () => {
  it('come from a profile of a file, and a missing profile is fatal', async () => {
    const file = join(tempDir(), 'credentials');
    writeFileSync(
      file,
      '[work]\naws_access_key_id = AKIDWORK\naws_secret_access_key = s\naws_session_token = t\n',
    );
    const source = await openCredentials({ type: 's3', profile: 'work', credentialsFile: file });
    expect(await source.get()).toMatchObject({
      accessKeyId: 'AKIDWORK',
      secretAccessKey: 's',
      sessionToken: 't',
    });
    await expect(openS3Adapter({ type: 's3', profile: 'home', credentialsFile: file })).rejects.toMatchObject(
      {
        kind: 'configuration',
        message: expect.stringContaining('"home"') as string,
      },
    );
  });

  it('are renewed before they end, once for all who ask', async () => {
    let calls = 0;
    const source = new Renewing(async () => {
      calls++;
      return { ...credentials, expiration: new Date(Date.now() + (calls === 1 ? 60_000 : 3_600_000)) };
    });
    await Promise.all([source.get(), source.get()]);
    expect(calls).toBe(1);
    await Promise.all([source.get(), source.get()]);
    expect(calls).toBe(2);
    await source.get();
    expect(calls).toBe(2);
  });

  it('never show in errors', async () => {
    const adapter = await openS3Adapter({
      type: 's3',
      endpoint: 'http://127.0.0.1:1',
      discoverBucketRegion: false,
      credentials,
    });
    const error: unknown = await adapter.get(at('x')).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: 'unavailable' });
    expect(String(error)).not.toContain('very-secret');
    await adapter.close();
  });
});

describe('settings', () => {
  it('are checked', async () => {
    const open = (config: Partial<S3StoreConfig>): Promise<BlockAdapter> =>
      openS3Adapter({ type: 's3', credentials, ...config });
    await expect(open({ streamingChunkSize: 8191 })).rejects.toThrow('at least 8192');
    await expect(open({ streamingChunkTimeoutMs: 0 })).rejects.toThrow('greater than 0');
    await expect(open({ credentials: { accessKeyId: 'x', secretAccessKey: '' } })).rejects.toThrow(
      'needs both',
    );
  });
});

describe('sizes', () => {
  it('let 10 000 parts hold 490 GiB in bounded memory', () => {
    let total = 0;
    for (let part = 1; part <= 10_000; part++) total += partSize(part);
    expect(total).toBeGreaterThan(490 * 2 ** 30);
    expect(partSize(1)).toBe(8 * 2 ** 20);
    expect(partSize(10_000)).toBe(64 * 2 ** 20);
  });

  it('cover a copied object exactly', () => {
    expect(copyRanges(10, 4)).toEqual([
      { start: 0, end: 3 },
      { start: 4, end: 7 },
      { start: 8, end: 9 },
    ]);
    expect(copyRanges(2 ** 45, 2 ** 29).length).toBeLessThanOrEqual(10_000);
  });

  it('cut streams into exact units', async () => {
    const cut = async (sizes: number[], unit: number, announced = -1): Promise<number[]> => {
      const found: number[] = [];
      for await (const chunk of unitsOf(
        Readable.from(sizes.map((size) => Buffer.alloc(size))),
        unit,
        announced,
      )) {
        found.push(chunk.length);
      }
      return found;
    };
    expect(await cut([10, 1, 5], 4)).toEqual([4, 4, 4, 4]);
    expect(await cut([3, 3, 3], 4)).toEqual([4, 4, 1]);
    expect(await cut([], 4)).toEqual([]);
    await expect(cut([3], 4, 4)).rejects.toMatchObject({ kind: 'write_failed' });
    await expect(cut([5], 4, 4)).rejects.toMatchObject({ kind: 'write_failed' });
  });

  it('hand on the pieces of streams, small ones together', async () => {
    const pieces = async (sizes: number[], announced: number): Promise<number[]> => {
      const found: number[] = [];
      for await (const piece of piecesOf(Readable.from(sizes.map((size) => Buffer.alloc(size))), announced))
        found.push(piece.length);
      return found;
    };
    expect(await pieces([100_000, 1000, 70_000, 5], 171_005)).toEqual([100_000, 71_000, 5]);
    await expect(pieces([3], 4)).rejects.toMatchObject({ kind: 'write_failed' });
    await expect(pieces([5], 4)).rejects.toMatchObject({ kind: 'write_failed' });
  });

  it('use the memory of parts again once the store has them', async () => {
    const unit = 2 ** 20;
    const content = randomBytes(42 * unit + 17);
    const memory = new Set<ArrayBufferLike>();
    const received: Buffer[] = [];
    const uploader: PartUploader = {
      start: () => Promise.resolve('id'),
      uploadPart: async (_, partNumber, part) => {
        // A slow store reads what it was handed long after.
        await setTimeout(20);
        const chunks = part.kind === 'bytes' ? part.chunks : [];
        for (const chunk of chunks) memory.add(chunk.buffer);
        received.push(Buffer.concat(chunks));
        return { partNumber, etag: '' };
      },
      abort: () => Promise.resolve(),
    };
    const pieces = Array.from({ length: 43 }, (_, i) => content.subarray(i * unit, (i + 1) * unit));
    const uploaded = await uploadInParts(
      { stream: Readable.from(pieces), size: -1 },
      unit,
      uploader,
      undefined,
    );
    expect(uploaded).toMatchObject({ kind: 'parts', parts: { length: 6 } });
    expect(Buffer.concat(received).equals(content)).toBe(true);
    // Two parts of 8 units, the one that is being filled beyond them, and the rest at the end.
    expect(memory.size).toBeLessThanOrEqual(18);
  });
});
