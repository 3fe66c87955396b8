import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { emptySha256, signRequest, SigningKeyCache } from '@svc/encoding';
import { tempDir, testServerOrSkip, type S3Server } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startProxy, type Proxy } from './proxy.ts';
import { quickstart, startSvc, Tool, type Server } from './start-svc.ts';

const store = await testServerOrSkip('versitygw');
const bucket = `cli-${randomBytes(4).toString('hex')}`;

async function createBucket(s3: S3Server): Promise<void> {
  const url = new URL(`/${bucket}`, s3.endpoint);
  const { headers } = signRequest(
    { method: 'PUT', path: url.pathname, query: '', headers: { host: url.host }, payloadHash: emptySha256 },
    { credentials: s3, region: s3.region, service: 's3', now: new Date(), keys: new SigningKeyCache() },
  );
  const answer = await fetch(url, { method: 'PUT', headers: { ...headers } });
  expect(answer.status).toBe(200);
}

describe.skipIf(store === undefined)('straight to and from the object store', () => {
  let server: Server;
  let proxy: Proxy;
  let tool: Tool;
  /** Requests for object data that went through the service. */
  const proxied: string[] = [];

  beforeAll(async () => {
    const s3 = store!;
    await createBucket(s3);
    server = await startSvc(
      {
        SVC_DATABASE_TYPE: 'local',
        SVC_BLOCKSTORE_TYPE: 's3',
        SVC_BLOCKSTORE_S3_ENDPOINT: s3.endpoint,
        SVC_BLOCKSTORE_S3_REGION: s3.region,
        SVC_BLOCKSTORE_S3_FORCE_PATH_STYLE: 'true',
        SVC_BLOCKSTORE_S3_DISCOVER_BUCKET_REGION: 'false',
        SVC_BLOCKSTORE_S3_DISABLE_PRE_SIGNED_MULTIPART: 'false',
        SVC_BLOCKSTORE_S3_CREDENTIALS_ACCESS_KEY_ID: s3.accessKeyId,
        SVC_BLOCKSTORE_S3_CREDENTIALS_SECRET_ACCESS_KEY: s3.secretAccessKey,
        SVC_BLOCKSTORE_SIGNING_SECRET_KEY: 'signing secret of the test',
        SVC_AUTH_ENCRYPT_SECRET_KEY: 'encryption secret of the test',
        SVC_INSTALLATION_USER_NAME: 'admin',
        SVC_INSTALLATION_ACCESS_KEY_ID: quickstart.accessKeyId,
        SVC_INSTALLATION_SECRET_ACCESS_KEY: quickstart.secretAccessKey,
      },
      [],
    );
    proxy = await startProxy(server.url, (seen) => {
      const url = new URL(seen.url ?? '', 'http://x');
      const isData = url.pathname.endsWith('/objects') && (seen.method === 'GET' || seen.method === 'POST');
      if (isData && url.searchParams.get('presign') !== 'true')
        proxied.push(`${seen.method} ${url.pathname}`);
      return false;
    });
    tool = new Tool(proxy.url);
    await tool.ok(['repo', 'create', 'svc://repo1', `s3://${bucket}/repo1`]);
  });

  afterAll(async () => {
    await proxy?.stop();
    await server?.stop();
  });

  it('moves a large object in parts and ranges, and a folder of files', async () => {
    const folder = tempDir();
    const large = randomBytes(12 * 1024 * 1024);
    mkdirSync(join(folder, 'in', 'sub'), { recursive: true });
    writeFileSync(join(folder, 'in', 'large'), large);
    for (const name of ['a', 'sub/b', 'sub/empty']) {
      writeFileSync(join(folder, 'in', name), name === 'sub/empty' ? '' : name);
    }
    const uploaded = await tool.ok(['fs', 'upload', '-r', '-s', join(folder, 'in'), 'svc://repo1/main/d']);
    expect(uploaded).toContain('Uploaded: 4\n');
    const stat = JSON.parse(
      await tool.ok(['fs', 'stat', '--json', '--pre-sign=false', 'svc://repo1/main/d/large']),
    ) as {
      checksum: string;
    };
    expect(stat.checksum).toMatch(/-3$/);
    await tool.ok(['commit', 'svc://repo1/main', '-m', 'data']);
    await tool.ok([
      'fs',
      'download',
      '-r',
      '--part-size',
      '1048576',
      'svc://repo1/main/d/',
      join(folder, 'out'),
    ]);
    expect(readFileSync(join(folder, 'out', 'large')).equals(large)).toBe(true);
    expect(readdirSync(join(folder, 'out', 'sub')).toSorted()).toEqual(['b', 'empty']);
    await tool.ok(['local', 'clone', 'svc://repo1/main/d/', join(folder, 'clone')]);
    expect(readFileSync(join(folder, 'clone', 'large')).equals(large)).toBe(true);
    expect(await tool.ok(['local', 'status', join(folder, 'clone')])).toContain('No diff found.');
    expect(await tool.ok(['fs', 'cat', 'svc://repo1/main/d/a'])).toBe('a');
    expect(proxied).toEqual([]);
  });

  it('prints a URL that works without credentials', async () => {
    await tool.ok(['fs', 'upload', '-s', '-', 'svc://repo1/main/p', '--content-type', 'text/x'], {
      input: 'hello',
    });
    const url = (await tool.ok(['fs', 'presign', 'svc://repo1/main/p'])).trim();
    const body = await new Promise<string>((resolve, reject) => {
      request(url, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => resolve(text));
      })
        .on('error', reject)
        .end();
    });
    expect(body).toBe('hello');
    const stat = await tool.ok(['fs', 'stat', 'svc://repo1/main/p']);
    expect(stat).toContain(`Checksum: ${createHash('md5').update('hello').digest('hex')}\n`);
    expect(stat).toContain('Content-Type: text/x\n');
    expect(stat).toMatch(/Physical Address: http:.*\nPhysical Address Expires: \d{4}-/);
  });

  it('goes through the service with --pre-sign=false', async () => {
    await tool.ok(['fs', 'upload', '--pre-sign=false', '-s', '-', 'svc://repo1/main/q'], { input: 'hi' });
    expect(await tool.ok(['fs', 'cat', '--pre-sign=false', 'svc://repo1/main/q'])).toBe('hi');
    expect(proxied).toHaveLength(2);
  });
});
