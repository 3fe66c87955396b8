import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chattyLogging, startSvcProcess, tempDir } from '@svc/testing';

export interface RunningSvc {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A folder outside the block store that may be imported. */
  readonly importFolder: string;
  stop(): Promise<void>;
}

/** The whole server as an operator starts it, on local stores in a fresh folder. */
export async function startSvc(): Promise<RunningSvc> {
  const folder = tempDir('svc-tour');
  const importFolder = join(folder, 'source');
  mkdirSync(importFolder);
  const key = { accessKeyId: 'AKIAJTOUROFTHEAPI', secretAccessKey: 'a-secret-of-the-tour' };
  const config = {
    database: { type: 'local', local: { path: join(folder, 'kv') } },
    blockstore: {
      type: 'local',
      local: {
        path: join(folder, 'blocks'),
        import_enabled: true,
        allowed_external_prefixes: [importFolder],
      },
      signing: { secret_key: 'signs the addresses of this tour' },
    },
    auth: { encrypt: { secret_key: 'encrypts the keys of this tour' }, ui_config: { rbac: 'internal' } },
    installation: {
      user_name: 'admin',
      access_key_id: key.accessKeyId,
      secret_access_key: key.secretAccessKey,
    },
    committed: { local_cache: { dir: join(folder, 'cache') } },
  };
  const file = join(folder, 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  const { url, stop } = await startSvcProcess({ args: ['--config', file], env: chattyLogging, home: folder });
  return {
    endpoint: url,
    ...key,
    importFolder,
    async stop() {
      await stop();
    },
  };
}
