import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { createMemStore } from '@svc/kv';
import { tempDir } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import type { S3TestClient } from './s3-test-client.ts';

const mebibyte = 1024 * 1024;
const partSize = 256 * mebibyte;
const parts = 40;
const memoryBound = 600 * mebibyte;

let gateway: TestGateway;
let s3: S3TestClient;

beforeAll(async () => {
  gateway = await composeGateway({
    kv: createMemStore(),
    block: { type: 'local', path: tempDir('svc-large') },
  });
  await gateway.createRepository('repo');
  s3 = gateway.client();
});
afterAll(() => gateway.close());

/** Sends one part of equal blocks without ever holding it whole. */
function sendPart(target: string, block: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      host: '127.0.0.1',
      port: gateway.port,
      method: 'PUT',
      path: target,
      headers: { host: `127.0.0.1:${gateway.port}`, 'content-length': partSize },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      incoming.resume().on('end', () => {
        if (incoming.statusCode === 200) resolve(incoming.headers.etag ?? '');
        else reject(new Error(`part answered ${incoming.statusCode}`));
      });
    });
    let left = partSize / block.length;
    const pump = (): void => {
      while (left > 0) {
        left--;
        if (!outgoing.write(block)) {
          outgoing.once('drain', pump);
          return;
        }
      }
      outgoing.end();
    };
    pump();
  });
}

describe('a 10 GiB upload in parts', () => {
  it('passes with bounded memory and reads back the same', async () => {
    const path = '/repo/main/ten gibibytes';
    const created = await s3.post(path, '', { query: 'uploads' });
    const uploadId = created.xml('UploadId') ?? '';
    const expected = createHash('sha256');
    let listed = '';
    let peak = 0;
    const watch = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 100);
    try {
      for (let number = 1; number <= parts; number++) {
        const block = Buffer.alloc(mebibyte, number);
        for (let i = 0; i < partSize / mebibyte; i++) expected.update(block);
        const target = s3.presign('PUT', path, {
          query: [
            ['partNumber', String(number)],
            ['uploadId', uploadId],
          ],
        });
        const etag = await sendPart(target, block);
        listed += `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag></Part>`;
      }
      const document = `<CompleteMultipartUpload>${listed}</CompleteMultipartUpload>`;
      const done = await s3.post(path, document, { query: `uploadId=${uploadId}` });
      expect(done.status).toBe(200);
      const actual = createHash('sha256');
      const size = await new Promise<number>((resolve, reject) => {
        let received = 0;
        httpRequest({
          host: '127.0.0.1',
          port: gateway.port,
          path: s3.presign('GET', path),
          headers: { host: `127.0.0.1:${gateway.port}` },
        })
          .on('error', reject)
          .on('response', (incoming) => {
            incoming
              .on('data', (data: Buffer) => {
                received += data.length;
                actual.update(data);
              })
              .on('error', reject)
              .on('end', () => resolve(received));
          })
          .end();
      });
      expect(size).toBe(parts * partSize);
      expect(actual.digest('hex')).toBe(expected.digest('hex'));
    } finally {
      clearInterval(watch);
    }
    expect(peak).toBeLessThan(memoryBound);
  });
});
