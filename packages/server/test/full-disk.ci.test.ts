import { hash, randomBytes } from 'node:crypto';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { signRequest, SigningKeyCache } from '@svc/encoding';
import { SmallDisks, waitUntil } from '@svc/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { quickstartAuth, quickstartKey, startSvc } from './start-server.ts';
import type { Answer, RunningSvc } from './start-server.ts';

const mebibyte = 1024 * 1024;
const objectBytes = mebibyte;
const writers = 4;
/** Each writer goes on for so long after it was refused first. */
const refusalsEach = 3;
const disks = new SmallDisks();
const signingKeys = new SigningKeyCache();

afterAll(() => disks.unmountAll());

/** Everything below a folder that holds bytes. */
function filesIn(folder: string): string[] {
  return (
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      // Those that come and go are nobody's data.
      .filter((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0)
  );
}

class Client {
  readonly #server: RunningSvc;

  constructor(server: RunningSvc) {
    this.#server = server;
  }

  call(method: string, path: string, body?: object): Promise<Answer> {
    return this.#server.request(`/api/v1${path}`, {
      method,
      headers: { Authorization: quickstartAuth, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  upload(path: string, body: Buffer): Promise<Answer> {
    return this.#server.request(`/api/v1/repositories/lake/branches/main/objects?path=${path}`, {
      method: 'POST',
      headers: { Authorization: quickstartAuth, 'Content-Type': 'application/octet-stream' },
      body,
    });
  }

  copy(from: string, to: string): Promise<Answer> {
    const path = `/repositories/lake/branches/main/objects/copy?dest_path=${to}`;
    return this.call('POST', path, { src_path: from });
  }

  s3(method: string, key: string, query: string, body: Buffer = Buffer.alloc(0)): Promise<Answer> {
    const path = `/lake/main/${key}`;
    const { headers } = signRequest(
      {
        method,
        path,
        query,
        headers: { host: `127.0.0.1:${this.#server.port}` },
        payloadHash: hash('sha256', body),
      },
      {
        credentials: quickstartKey,
        region: 'us-east-1',
        service: 's3',
        now: new Date(),
        keys: signingKeys,
      },
    );
    return this.#server.request(`${path}?${query}`, {
      method,
      headers,
      ...(body.length > 0 && { body }),
    });
  }
}

interface Place {
  readonly env: (disk: string) => Record<string, string>;
  readonly diskBytes: number;
  readonly ballastBytes: number;
}

const places: readonly (readonly [string, Place])[] = [
  // The key-value store stops writing below 64 MiB, so there data arrives and its record is refused. It looks once a
  // second: the ballast is more than 64 MiB, however much came in between.
  [
    'a disk for everything',
    { env: (disk) => ({ HOME: disk }), diskBytes: 176 * mebibyte, ballastBytes: 96 * mebibyte },
  ],
  [
    'a disk of the objects',
    {
      env: (disk) => ({ SVC_BLOCKSTORE_LOCAL_PATH: join(disk, 'block') }),
      diskBytes: 28 * mebibyte,
      ballastBytes: 12 * mebibyte,
    },
  ],
];

describe.each(places)('%s', (_name, place) => {
  test('that is full refuses data, keeps nothing of it and recovers by itself', async (context) => {
    const disk = await disks.mount(place.diskBytes);
    if (disk === undefined) return context.skip('no small disk here');
    const server = await startSvc(['--quickstart'], {
      SVC_SERVER_WORKERS: '2',
      ...place.env(disk),
    });
    const client = new Client(server);
    const repository = { name: 'lake', storage_namespace: 'local://lake' };
    expect((await client.call('POST', '/repositories', repository)).status).toBe(201);
    const [store] = filesIn(disk)
      .filter((path) => path.endsWith('/dummy'))
      .map((path) => path.slice(0, path.indexOf('/lake/')));
    if (store === undefined) throw new Error('the store is not where it was put');
    const dataFiles = (): string[] =>
      filesIn(store).filter((path) => /\/lake\/data\/|\/\.svc-tmp\/|\/\.svc-multipart\/.*\/\d/.test(path));
    const ballast = join(disk, 'ballast');
    writeFileSync(ballast, Buffer.alloc(place.ballastBytes));
    const acknowledged = new Map<string, Buffer>();

    const begun = await client.s3('POST', 'parts', 'uploads=');
    const uploadId = /<UploadId>([^<]*)</.exec(begun.body)?.[1] ?? '';
    const answers = new Set<number>();
    const fill = async (writer: number): Promise<void> => {
      for (let refused = 0, n = 0; refused < refusalsEach; n += 1) {
        const [path, body] = [`${writer}/${n}`, randomBytes(objectBytes)];
        const { status } = await client.upload(path, body);
        answers.add(status);
        if (status === 201) acknowledged.set(path, body);
        else refused += 1;
      }
    };
    await Promise.all(Array.from({ length: writers }, (_, writer) => fill(writer)));
    expect([...answers].toSorted((a, b) => a - b)).toEqual([201, 503]);
    expect(acknowledged.size).toBeGreaterThan(writers);
    const [[anyPath, anyBody] = ['', Buffer.alloc(0)]] = acknowledged;
    // What was refused has left room behind: a smaller rest may still be taken, and is kept then.
    for (let refused = 0, n = 0; refused < refusalsEach; n += 1) {
      const { status } = await client.copy(anyPath, `copy/${n}`);
      expect([201, 503]).toContain(status);
      if (status === 201) acknowledged.set(`copy/${n}`, anyBody);
      else refused += 1;
    }
    let storedParts = 0;
    for (let refused = 0, n = 1; refused < refusalsEach; n += 1) {
      const query = `partNumber=${n}&uploadId=${uploadId}`;
      const { status } = await client.s3('PUT', 'parts', query, randomBytes(objectBytes));
      expect([200, 503]).toContain(status);
      if (status === 200) storedParts += 1;
      else refused += 1;
    }
    expect(dataFiles()).toHaveLength(acknowledged.size + storedParts);

    // Room again: everything works without a restart, as soon as each worker has seen it.
    rmSync(ballast);
    const late = randomBytes(objectBytes);
    await waitUntil(async () => (await client.upload('late', late)).status === 201, { what: 'room' });
    acknowledged.set('late', late);
    const soon = async <T extends { readonly status: number }>(
      status: number,
      send: () => Promise<T>,
    ): Promise<T> => {
      let answer = await send();
      await waitUntil(
        async () => {
          if (answer.status === 503) answer = await send();
          return answer.status !== 503;
        },
        { what: 'room' },
      );
      expect(answer.status).toBe(status);
      return answer;
    };
    await soon(201, () => client.copy(anyPath, 'copied'));
    acknowledged.set('copied', anyBody);
    const part = randomBytes(objectBytes);
    const sent = await soon(200, () => client.s3('PUT', 'parts', `partNumber=1&uploadId=${uploadId}`, part));
    const list = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${sent.headers.etag}</ETag></Part></CompleteMultipartUpload>`;
    await soon(200, () => client.s3('POST', 'parts', `uploadId=${uploadId}`, Buffer.from(list)));
    acknowledged.set('parts', part);
    const commits = '/repositories/lake/branches/main/commits';
    await soon(201, () => client.call('POST', commits, { message: 'all' }));
    expect(dataFiles()).toHaveLength(acknowledged.size);
    for (const [path, body] of acknowledged) {
      const read = await server.request(`/api/v1/repositories/lake/refs/main/objects?path=${path}`, {
        headers: { Authorization: quickstartAuth },
        encoding: 'latin1',
      });
      expect(read.status).toBe(200);
      expect(Buffer.from(read.body, 'latin1').equals(body), path).toBe(true);
    }
    expect((await server.stop()).code).toBe(0);
  });
});
