import { randomBytes } from 'node:crypto';
import type { BlockStoreConfig } from '@svc/block';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import type { S3TestClient } from './s3-test-client.ts';
import { converse } from './wire.ts';

/** Entries whose size is not the size of their data, on one kind of store. */
export function framingSuite(name: string, open: () => Promise<BlockStoreConfig>): void {
  describe(`an entry that lies about its size, on ${name}`, () => {
    const repository = 'lies';
    let gateway: TestGateway;
    let s3: S3TestClient;
    let lies = 0;

    beforeAll(async () => {
      gateway = await composeGateway({ block: await open() });
      await gateway.createRepository(repository);
      s3 = gateway.client();
      await s3.put(`/${repository}/main/good`, 'the good one');
    });
    afterAll(() => gateway.close());

    /** Stages an entry before its data is there, then stores other data than it says. */
    async function lie(size: number, data: Buffer): Promise<string> {
      const path = `lie-${lies++}`;
      const { objects } = gateway.engine;
      const place = { repository, branch: 'main', path };
      const { physicalAddress } = await objects.getPhysicalAddress(place);
      await objects.link({ ...place, physicalAddress, checksum: `"etag-${path}"`, size });
      const { address } = await objects.stat({ repository, ref: 'main', path });
      await gateway.block.put(
        {
          storageNamespace: gateway.namespace(repository),
          identifier: address,
          identifierType: 'relative',
        },
        data,
      );
      return path;
    }

    const request = (method: string, path: string, headers = ''): string =>
      `${method} ${s3.presign(method, `/${repository}/main/${path}`)} HTTP/1.1\r\nhost: 127.0.0.1:${gateway.port}\r\n${headers}\r\n`;
    const last = (): string => request('GET', 'good', 'connection: close\r\n');

    it.each([
      [2, 200_002],
      [0, 200_002],
      [0, 7],
      [5, 10],
      [66_000, 70_000],
      [70_000, 70_001],
      [10, 2],
      [5, 0],
      [70_000, 10],
      [200_000, 70_000],
    ])('of %i bytes with %i stored is read without harm to the connection', async (size, stored) => {
      const data = randomBytes(stored);
      const path = await lie(size, data);
      // Twice: the second read of a small object could come from memory.
      const { answers, rest } = await converse(gateway.port, [
        request('GET', path),
        request('HEAD', path),
        request('GET', path),
        last(),
      ]);
      expect(rest.length).toBe(0);
      expect(answers).toHaveLength(4);
      const [first, head, second, good] = answers;
      expect(head?.status).toBe(200);
      expect(head?.head).toContain(`Content-Length: ${size}`);
      expect(good?.body.toString()).toBe('the good one');
      for (const answer of [first, second]) {
        if (size > stored) {
          expect(answer?.status).toBe(404);
          expect(answer?.body.toString()).toContain('<Code>NoSuchVersion</Code>');
        } else {
          expect(answer?.status).toBe(200);
          expect(answer?.body.equals(data.subarray(0, size))).toBe(true);
        }
      }
    });

    it.each([
      ['0-3', 206],
      ['4-4', 206],
      ['3-7', 404],
      ['5-5', 404],
      ['7-9', 404],
      ['-1', 404],
      ['0-', 404],
      ['10-', 416],
    ])('of 10 bytes with 5 stored gives the range %s or an error', async (range, status) => {
      const path = await lie(10, Buffer.from('01234'));
      const { answers, rest } = await converse(gateway.port, [
        request('GET', path, `range: bytes=${range}\r\n`),
        last(),
      ]);
      expect(rest.length).toBe(0);
      expect(answers.map((answer) => answer.status)).toEqual([status, 200]);
      if (status === 206) expect('01234').toContain(answers[0]?.body.toString());
    });

    it('ends at the size it says in a range, too', async () => {
      const path = await lie(10, Buffer.alloc(200_000, '0123456789'));
      const { answers, rest } = await converse(gateway.port, [
        request('GET', path, 'range: bytes=8-200\r\n'),
        request('GET', path, 'range: bytes=-200000\r\n'),
        last(),
      ]);
      expect(rest.length).toBe(0);
      expect(answers.map((answer) => answer.body.toString())).toEqual(['89', '0123456789', 'the good one']);
    });

    it('cannot be copied, whole or as a part', async () => {
      for (const [size, stored] of [
        [2, 200_002],
        [10, 2],
        [0, 5],
        [70_000, 66_000],
      ] as const) {
        const path = await lie(size, Buffer.alloc(stored, 'x'));
        const source = { 'x-amz-copy-source': `${repository}/main/${path}` };
        const copied = await s3.put(`/${repository}/main/copy`, '', { headers: source });
        expect(copied.status).toBe(400);
        expect(copied.code).toBe('InvalidArgument');
        expect((await s3.get(`/${repository}/main/copy`)).status).toBe(404);
        const target = `/${repository}/main/joined`;
        const uploadId = (await s3.post(target, '', { query: 'uploads' })).xml('UploadId') ?? '';
        const part = await s3.put(target, '', {
          query: `partNumber=1&uploadId=${uploadId}`,
          headers: source,
        });
        expect([part.status, part.code]).toEqual([400, 'InvalidArgument']);
        if (size > stored) {
          const range = { ...source, 'x-amz-copy-source-range': `bytes=0-${size - 1}` };
          const ranged = await s3.put(target, '', {
            query: `partNumber=1&uploadId=${uploadId}`,
            headers: range,
          });
          expect(ranged.status).toBe(400);
        }
        const parts = await s3.get(target, { query: `uploadId=${uploadId}` });
        expect(parts.all('PartNumber')).toEqual([]);
        await s3.delete(target, { query: `uploadId=${uploadId}` });
      }
      expect(gateway.errors).toEqual([]);
    });

    it('is refused when the data is there already', async () => {
      const { objects } = gateway.engine;
      const place = { repository, branch: 'main', path: 'checked' };
      const { physicalAddress } = await objects.getPhysicalAddress(place);
      const identifier = physicalAddress.slice(physicalAddress.lastIndexOf('/data/') + 1);
      await gateway.block.put(
        { storageNamespace: gateway.namespace(repository), identifier, identifierType: 'relative' },
        Buffer.from('12345'),
      );
      const link = (size: number) => objects.link({ ...place, physicalAddress, checksum: 'e', size });
      for (const size of [0, 4, 6, 2 ** 53 - 1])
        await expect(link(size)).rejects.toMatchObject({
          kind: 'invalid',
          message: expect.stringContaining('5 bytes') as string,
        });
      for (const size of [-1, 2 ** 53, 1.5, Number.NaN])
        await expect(link(size)).rejects.toMatchObject({ kind: 'invalid' });
      await expect(objects.stat({ repository, ref: 'main', path: 'checked' })).rejects.toMatchObject({
        kind: 'not_found',
      });
      expect((await link(5)).size).toBe(5);
    });
  });
}
