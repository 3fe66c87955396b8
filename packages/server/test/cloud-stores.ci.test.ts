import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  chattyLogging,
  createAzureContainer,
  createGcsBucket,
  startSvcProcess,
  tempDir,
  testServerOrSkip,
  type SvcProcess,
} from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const azurite = await testServerOrSkip('azurite');
const gcs = await testServerOrSkip('fake-gcs');
const key = { accessKeyId: 'AKIAJCLOUDSTORES', secretAccessKey: 'a-secret-of-cloud-stores' };

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
  readonly location: string | null;
}

/** One server with stores of three kinds, as an operator configures them. */
describe.skipIf(azurite === undefined || gcs === undefined)('a server with stores of several kinds', () => {
  let svc: SvcProcess;
  const at = {
    azure: 'https://svctest.blob.core.windows.net/svc-mixed',
    gs: 'gs://svc-mixed',
    local: 'local://mixed',
  };

  beforeAll(async () => {
    await createAzureContainer(azurite!, 'svc-mixed');
    await createGcsBucket(gcs!, 'svc-mixed');
    const home = tempDir('svc-cloud');
    const file = join(home, 'config.yaml');
    const config = {
      database: { type: 'local', local: { path: join(home, 'kv') } },
      blockstores: {
        signing: { secret_key: 'signs the addresses of these stores' },
        stores: [
          {
            id: 'azure',
            type: 'azure',
            description: 'Azure',
            azure: {
              storage_account: azurite!.account,
              storage_access_key: azurite!.accountKey,
              test_endpoint_url: azurite!.endpoint,
              disable_pre_signed_ui: false,
            },
          },
          { id: 'gs', type: 'gs' },
          {
            id: 'local',
            type: 'local',
            backward_compatible: true,
            local: { path: join(home, 'blocks'), import_enabled: true },
          },
        ],
      },
      auth: { encrypt: { secret_key: 'encrypts the keys of these stores' }, ui_config: { rbac: 'internal' } },
      installation: {
        user_name: 'admin',
        access_key_id: key.accessKeyId,
        secret_access_key: key.secretAccessKey,
      },
      committed: { local_cache: { dir: join(home, 'cache') } },
    };
    writeFileSync(file, JSON.stringify(config));
    svc = await startSvcProcess({
      args: ['--config', file],
      env: { ...chattyLogging, STORAGE_EMULATOR_HOST: gcs!.endpoint, SVC_SERVER_WORKERS: '1' },
      home,
    });
  }, 120_000);
  afterAll(() => svc?.stop());

  const send = (method: string, path: string, body?: string, type?: string): Promise<Response> =>
    fetch(`${svc.url}/api/v1${path}`, {
      method,
      redirect: 'manual',
      headers: {
        authorization: `Basic ${Buffer.from(`${key.accessKeyId}:${key.secretAccessKey}`).toString('base64')}`,
        ...(type === undefined ? {} : { 'content-type': type }),
      },
      ...(body === undefined ? {} : { body }),
    });

  const ask = async (method: string, path: string, json?: unknown): Promise<Answer> => {
    const response = await (json === undefined
      ? send(method, path)
      : send(method, path, JSON.stringify(json), 'application/json'));
    const text = await response.text();
    const body = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {};
    return { status: response.status, body, location: response.headers.get('location') };
  };

  const upload = async (repository: string, path: string, content: string): Promise<string> => {
    const objects = `/repositories/${repository}/branches/main/objects?path=${encodeURIComponent(path)}`;
    const response = await send('POST', objects, content, 'application/octet-stream');
    expect(response.status).toBe(201);
    return ((await response.json()) as { physical_address: string }).physical_address;
  };

  const download = async (repository: string, path: string): Promise<string> =>
    await (
      await send('GET', `/repositories/${repository}/refs/main/objects?path=${encodeURIComponent(path)}`)
    ).text();

  it('tells what each of them is', async () => {
    const { body } = await ask('GET', '/config');
    expect(body['storage_config_list']).toMatchObject([
      {
        blockstore_type: 'azure',
        blockstore_id: 'azure',
        blockstore_namespace_example: 'https://mystorageaccount.blob.core.windows.net/mycontainer/',
        blockstore_namespace_ValidityRegex: String.raw`^https?://[a-z0-9_-]+\.blob\.core\.windows\.net`,
        pre_sign_support: true,
        pre_sign_support_ui: true,
        pre_sign_multipart_upload: false,
        import_support: true,
      },
      { blockstore_type: 'gs', blockstore_namespace_ValidityRegex: '^gs://', pre_sign_support_ui: false },
      { blockstore_type: 'local' },
    ]);
  });

  it('refuses namespaces of another kind, of no container, and those in use', async () => {
    const create = (storage_id: string, storage_namespace: string) =>
      ask('POST', '/repositories', { name: `refused-${storage_id}`, storage_id, storage_namespace });
    expect((await create('azure', 'gs://svc-mixed/x')).status).toBe(400);
    expect((await create('gs', 'https://svctest.blob.core.windows.net/svc-mixed/x')).status).toBe(400);
    expect((await create('azure', 'https://svctest.blob.core.chinacloudapi.cn/svc-mixed/x')).status).toBe(
      400,
    );
    const missing = await create('azure', 'https://svctest.blob.core.windows.net/svc-missing/x');
    expect([missing.status, missing.body['message']]).toEqual([
      400,
      expect.stringContaining('ContainerNotFound'),
    ]);
    const noBucket = await create('gs', 'gs://svc-no-such-bucket/x');
    expect(noBucket.status).toBe(400);
  });

  it.each(['azure', 'gs'] as const)('keeps, commits, imports and shows objects on %s', async (storageId) => {
    const repository = `on-${storageId}`;
    const namespace = `${at[storageId]}/${repository}`;
    const created = await ask('POST', '/repositories', {
      name: repository,
      storage_id: storageId,
      storage_namespace: namespace,
    });
    expect([created.status, created.body['message']]).toEqual([201, undefined]);
    const again = { name: `${repository}-again`, storage_id: storageId, storage_namespace: namespace };
    expect((await ask('POST', '/repositories', again)).status).toBe(400);
    const address = await upload(repository, 'a/x.txt', 'content');
    expect(address.startsWith(`${namespace}/data/`)).toBe(true);
    for (let i = 0; i < 20; i++) await upload(repository, `many/${i}`, `object ${i}`);
    const commit = await ask('POST', `/repositories/${repository}/branches/main/commits`, { message: 'm' });
    expect(commit.status).toBe(201);
    expect(await download(repository, 'a/x.txt')).toBe('content');

    // Another repository imports what lies beside this one.
    const target = `imports-${storageId}`;
    const other = { name: target, storage_id: storageId, storage_namespace: `${at[storageId]}/${target}` };
    expect((await ask('POST', '/repositories', other)).status).toBe(201);
    const started = await ask('POST', `/repositories/${target}/branches/main/import`, {
      paths: [{ path: `${namespace}/data/`, destination: 'in/', type: 'common_prefix' }],
      commit: { message: 'imported' },
    });
    expect(started.status).toBe(202);
    const status = `/repositories/${target}/branches/main/import?id=${String(started.body['id'])}`;
    await expect
      .poll(async () => (await ask('GET', status)).body, { timeout: 30_000 })
      .toMatchObject({ completed: true, ingested_objects: 21 });
    const listed = await ask('GET', `/repositories/${target}/refs/main/objects/ls?prefix=in/&amount=100`);
    const results = listed.body['results'] as {
      path: string;
      physical_address: string;
      size_bytes: number;
    }[];
    expect(results).toHaveLength(21);
    const same = results.find((object) => object.physical_address === address);
    expect(same?.size_bytes).toBe(7);
    expect(await download(target, same?.path ?? '')).toBe('content');
  });

  it('sends readers and writers straight to Azure', async () => {
    const repository = 'on-azure';
    const objects = `/repositories/${repository}/refs/main/objects`;
    const { status, location } = await ask('GET', `${objects}?path=a%2Fx.txt&presign=true`);
    expect(status).toBe(302);
    expect(await (await fetch(location ?? '')).text()).toBe('content');
    const backing = `/repositories/${repository}/branches/main/staging/backing?path=direct.txt`;
    const staging = (await ask('GET', `${backing}&presign=true`)).body;
    const put = await fetch(String(staging['presigned_url']), {
      method: 'PUT',
      body: 'straight',
      headers: { 'x-ms-blob-type': 'BlockBlob' },
    });
    expect(put.status).toBe(201);
    const checksum = Buffer.from(put.headers.get('content-md5') ?? '', 'base64').toString('hex');
    const linked = await ask('PUT', backing, { staging, checksum, size_bytes: 8 });
    expect(linked.status).toBe(200);
    expect(await download(repository, 'direct.txt')).toBe('straight');
  });

  it('says that credentials that cannot sign have no URLs', async () => {
    const { status, body } = await ask(
      'GET',
      '/repositories/on-gs/refs/main/objects?path=a%2Fx.txt&presign=true',
    );
    expect([status, body['message']]).toEqual([400, expect.stringContaining('operation not supported')]);
  });
});
