import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { composeGateway, type TestGateway } from './compose.ts';
import type { S3TestClient } from './s3-test-client.ts';

const enabled = { 'x-amz-checksum-mode': 'ENABLED' };
const sha256 = 'uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=';

describe('what is kept with an object', () => {
  let gateway: TestGateway;
  let s3: S3TestClient;

  beforeAll(async () => {
    gateway = await composeGateway();
    await gateway.createRepository('repo');
    s3 = gateway.client();
  });
  afterAll(() => gateway.close());

  const head = async (path: string, headers: Record<string, string> = enabled) =>
    (await s3.head(path, { headers })).headers;

  it('is its checksum, also after commits, copies and changes of its metadata', async () => {
    await s3.put('/repo/main/x', 'hello world', { headers: { 'x-amz-checksum-sha256': sha256 } });
    await gateway.engine.objects.updateMetadata({
      repository: 'repo',
      branch: 'main',
      path: 'x',
      metadata: { own: 'value' },
    });
    const actor = { committer: 'admin' };
    await gateway.engine.commits.create({ repository: 'repo', branch: 'main', message: 'm', actor });
    const replace = { 'x-amz-metadata-directive': 'REPLACE', 'x-amz-copy-source': 'repo/main/x' };
    await s3.put('/repo/main/copy', '', { headers: replace });
    for (const path of ['/repo/main/x', '/repo/main/copy'])
      expect(await head(path)).toMatchObject({
        'x-amz-checksum-sha256': sha256,
        'x-amz-checksum-type': 'FULL_OBJECT',
      });
    expect((await head('/repo/main/x', {}))['x-amz-checksum-sha256']).toBeUndefined();
    const part = await s3.get('/repo/main/x', { headers: { ...enabled, range: 'bytes=0-3' } });
    expect(part.headers['x-amz-checksum-sha256']).toBeUndefined();
  });

  it('is a CRC64NVME where the client sends nothing and the object is small', async () => {
    await s3.put('/repo/main/small', 'hello world');
    expect(await head('/repo/main/small')).toMatchObject({ 'x-amz-checksum-crc64nvme': 'jSnVw/bqjr4=' });
    await s3.put('/repo/main/large', Buffer.alloc(1024 * 1024 + 1));
    expect((await head('/repo/main/large'))['x-amz-checksum-crc64nvme']).toBeUndefined();
  });

  it('is its storage class, which a copy does not have', async () => {
    const cold = { 'x-amz-storage-class': 'STANDARD_IA' };
    await s3.put('/repo/main/cold', 'x', { headers: cold });
    await s3.put('/repo/main/plain', 'x', { headers: { 'x-amz-storage-class': 'STANDARD' } });
    await s3.put('/repo/main/warm', '', { headers: { 'x-amz-copy-source': 'repo/main/cold' } });
    expect(await head('/repo/main/cold')).toMatchObject(cold);
    for (const path of ['/repo/main/plain', '/repo/main/warm'])
      expect((await head(path))['x-amz-storage-class']).toBeUndefined();
    const attributes = { 'x-amz-object-attributes': 'StorageClass' };
    const { text } = await s3.get('/repo/main/cold', { query: 'attributes', headers: attributes });
    expect(text).toContain('<StorageClass>STANDARD_IA</StorageClass>');
    const { metadata } = await gateway.engine.objects.stat({
      repository: 'repo',
      ref: 'main',
      path: 'plain',
    });
    expect(Object.keys(metadata).join()).not.toContain('class');
    const refused = await s3.put('/repo/main/none', 'x', { headers: { 'x-amz-storage-class': 'TAPE' } });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining('InvalidStorageClass')]);
    expect((await s3.head('/repo/main/none')).status).toBe(404);
  });

  it('are its tags, which a copy keeps or replaces', async () => {
    await s3.put('/repo/main/t', 'x', { headers: { 'x-amz-tagging': 'a=1&b=2' } });
    expect((await head('/repo/main/t', {}))['x-amz-tagging-count']).toBe('2');
    const copy = (to: string, headers: Record<string, string>) =>
      s3.put(to, '', { headers: { 'x-amz-copy-source': 'repo/main/t', ...headers } });
    await copy('/repo/main/t2', { 'x-amz-metadata-directive': 'REPLACE' });
    await copy('/repo/main/t3', { 'x-amz-tagging-directive': 'REPLACE', 'x-amz-tagging': 'c=3' });
    const tags = async (path: string) => (await s3.get(path, { query: 'tagging' })).text;
    expect(await tags('/repo/main/t2')).toContain('<Key>b</Key><Value>2</Value>');
    expect(await tags('/repo/main/t3')).toContain('<TagSet><Tag><Key>c</Key><Value>3</Value></Tag></TagSet>');
    expect((await s3.get('/repo/main/t')).headers['x-amz-meta-::svc::tag:a']).toBeUndefined();
  });

  it.each([
    ['x-amz-server-side-encryption', 'aws:kms'],
    ['x-amz-server-side-encryption-customer-algorithm', 'AES256'],
    ['x-amz-acl', 'public-read'],
    ['x-amz-grant-read', 'id=1'],
    ['x-amz-object-lock-mode', 'COMPLIANCE'],
  ])('is never less than what was asked for: %s', async (name, value) => {
    const reply = await s3.put('/repo/main/refused', 'x', { headers: { [name]: value } });
    expect(reply).toMatchObject({ status: 501, code: 'NotImplemented' });
    expect((await s3.head('/repo/main/refused')).status).toBe(404);
    const accepted = { 'x-amz-server-side-encryption': 'AES256', 'x-amz-acl': 'private' };
    expect((await s3.put('/repo/main/accepted', 'x', { headers: accepted })).status).toBe(200);
  });
});
