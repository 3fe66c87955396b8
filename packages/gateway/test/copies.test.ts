import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import { createUser } from './create-user.ts';
import type { S3TestClient } from './s3-test-client.ts';

let gateway: TestGateway;
let s3: S3TestClient;
const actor = { committer: 'admin' };

beforeAll(async () => {
  gateway = await composeGateway();
  for (const name of ['repo', 'repo2', 'frozen']) await gateway.createRepository(name);
  s3 = gateway.client();
  await s3.put('/repo/main/ten', '0123456789', { headers: { 'content-type': 'text/plain' } });
  await s3.put('/repo/main/empty', '');
  await gateway.engine.branches.create({ repository: 'repo', name: 'prot', source: 'main', actor });
  await s3.put('/repo/prot/old', 'old');
  await gateway.engine.protection.add({ repository: 'repo', pattern: 'prot' });
});
afterAll(() => gateway.close());

describe('copies', () => {
  const copy = (target: string, source: string, client: S3TestClient = s3) =>
    client.put(target, '', { headers: { 'x-amz-copy-source': source } });

  it('go from any ref of any repository', async () => {
    await s3.put('/repo/main/a+b', 'plus');
    await gateway.engine.commits.create({ repository: 'repo', branch: 'main', message: 'm', actor });
    await gateway.engine.tags.create({ repository: 'repo', id: 'v1', ref: 'main', actor });
    const done = await copy('/repo2/main/c', 'repo/v1/a%2Bb');
    expect(done.status).toBe(200);
    expect(done.text).toMatch(
      /<CopyObjectResult xmlns="[^"]+"><LastModified>[^<]+<\/LastModified><ETag>&quot;[0-9a-f]{32}&quot;<\/ETag><ChecksumCRC64NVME>[^<]+<\/ChecksumCRC64NVME><ChecksumType>FULL_OBJECT<\/ChecksumType><\/CopyObjectResult>$/,
    );
    expect((await s3.get('/repo2/main/c')).text).toBe('plus');
    expect((await copy('/repo2/main/d', 'repo/v1/a%2Bb?versionId=null')).status).toBe(200);
    expect(await copy('/repo2/main/d', 'repo/v1/a%2Bb?versionId=x')).toMatchObject({ code: 'NoSuchVersion' });
  });

  it('need rights on both sides', async () => {
    const write = {
      effect: 'allow',
      action: ['fs:WriteObject'],
      resource: 'arn:svc:fs:::repository/repo2/object/*',
    };
    const read = {
      effect: 'allow',
      action: ['fs:ReadObject'],
      resource: 'arn:svc:fs:::repository/repo/object/ten',
    };
    const half = await createUser(gateway, 'half', [write]);
    const whole = await createUser(gateway, 'whole', [write, read]);
    expect(await copy('/repo2/main/x', 'repo/main/ten', half.client)).toMatchObject({ code: 'AccessDenied' });
    expect((await copy('/repo2/main/x', 'repo/main/ten', whole.client)).status).toBe(200);
    expect(await copy('/repo2/main/x', 'repo/main/empty', whole.client)).toMatchObject({ status: 403 });
  });

  it.each([
    ['repo/main/none', 404, 'NoSuchKey'],
    ['repo/nobranch/x', 404, 'NoSuchKey'],
    ['nope/main/x', 404, 'NoSuchBucket'],
    ['repo/main/%zz', 400, 'InvalidArgument'],
    ['repo/main/kept', 400, 'InvalidRequest'],
    ['onlybucket', 400, 'InvalidArgument'],
    ['repo/main/', 400, 'InvalidArgument'],
    ['', 400, 'InvalidArgument'],
  ])('of %j are %i %s', async (source, status, code) => {
    await s3.put('/repo/main/kept', 'kept');
    expect(await copy('/repo/main/kept', source)).toMatchObject({ status, code });
    expect((await s3.get('/repo/main/kept')).text).toBe('kept');
  });

  it('respect protection and conditions', async () => {
    expect(await copy('/repo/prot/x', 'repo/main/ten')).toMatchObject({
      status: 403,
      code: 'ErrWriteToProtectedBranch',
    });
    expect((await s3.get('/repo/prot/x')).status).toBe(404);
    const conditional = (headers: Record<string, string>) =>
      s3.put('/repo/main/cond', '', { headers: { 'x-amz-copy-source': 'repo/main/ten', ...headers } });
    expect((await conditional({ 'x-amz-copy-source-if-match': '"other"' })).status).toBe(412);
    const { etag = '' } = (await s3.head('/repo/main/ten')).headers;
    expect((await conditional({ 'x-amz-copy-source-if-none-match': etag })).status).toBe(412);
    expect((await conditional({ 'x-amz-copy-source-if-match': etag, 'if-none-match': '*' })).status).toBe(
      200,
    );
    expect((await conditional({ 'if-none-match': '*' })).status).toBe(412);
  });
});
