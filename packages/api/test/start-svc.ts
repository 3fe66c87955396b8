import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, tempDir, waitUntil } from '@svc/testing';

export interface RunningSvc {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A folder outside the block store that may be imported. */
  readonly importFolder: string;
  stop(): Promise<void>;
}

const program = join(import.meta.dirname, '../../server/src/bin/svc.ts');

/** The whole server as an operator starts it, on local stores in a fresh folder. */
export async function startSvc(): Promise<RunningSvc> {
  const folder = tempDir('svc-tour');
  const port = await freePort();
  const importFolder = join(folder, 'source');
  mkdirSync(importFolder);
  const key = { accessKeyId: 'AKIAJTOUROFTHEAPI', secretAccessKey: 'a-secret-of-the-tour' };
  const config = {
    listen_address: `127.0.0.1:${port}`,
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
  const child = spawn(process.execPath, [program, '--config', file, 'run'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const endpoint = `http://127.0.0.1:${port}`;
  try {
    await waitUntil(
      async () => {
        if (child.exitCode !== null) throw new Error('the server ended');
        return (await fetch(`${endpoint}/_health`)).ok;
      },
      { timeoutMs: 60_000, what: 'the server to answer' },
    );
  } catch (error) {
    child.kill('SIGKILL');
    throw new Error(`the server did not start:\n${output.slice(-3000)}`, { cause: error });
  }
  return {
    endpoint,
    ...key,
    importFolder,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
