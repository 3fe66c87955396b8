import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Credentials } from './api.ts';
import { ServerMemory } from './memory.ts';

export interface BenchServer {
  readonly endpoint: URL;
  readonly credentials: Credentials;
  readonly startMs: number;
  readonly memory: ServerMemory;
  stop(): Promise<void>;
}

/** Where a server of the benchmark keeps its state. */
export function storesIn(folder: string): { metadata: string; block: string; cache: string } {
  return { metadata: join(folder, 'metadata'), block: join(folder, 'block'), cache: join(folder, 'cache') };
}

/**
 * Starts the bundled server with its default, durable settings on a folder, which may hold an earlier one's state.
 * Groups of settings in `instead` take the place of its own, and `dist` that of our own build.
 */
export async function startServer(
  folder: string,
  importFolder: string,
  instead: object = {},
  dist = join(import.meta.dirname, '..', '..', '..', 'dist'),
): Promise<BenchServer> {
  const port = await freePort();
  const credentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  };
  mkdirSync(folder, { recursive: true });
  const stores = storesIn(folder);
  const config = {
    listen_address: `127.0.0.1:${port}`,
    logging: { level: 'WARN' },
    database: { type: 'local', local: { path: stores.metadata } },
    blockstore: {
      type: 'local',
      signing: { secret_key: 'signing-secret-of-the-benchmark' },
      local: { path: stores.block, import_enabled: true, allowed_external_prefixes: [importFolder] },
    },
    committed: { local_cache: { dir: stores.cache } },
    auth: { encrypt: { secret_key: 'encryption-secret-of-the-benchmark' } },
    installation: {
      user_name: 'bench',
      access_key_id: credentials.accessKeyId,
      secret_access_key: credentials.secretAccessKey,
    },
    ...instead,
  };
  const file = join(folder, 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  const program = join(dist, 'svc.js');
  const logFile = join(folder, 'server.log');
  const log = openSync(logFile, 'w');
  const started = performance.now();
  const child = spawn(process.execPath, [program, 'run', '--config', file], {
    stdio: ['ignore', 'ignore', log],
  });
  closeSync(log);
  let stopping = false;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', () => {
      if (!stopping) console.error(`the server ended by itself:\n${readFileSync(logFile, 'utf8')}`);
      resolve();
    });
  });
  const endpoint = new URL(`http://127.0.0.1:${port}`);
  for (;;) {
    const healthy = await fetch(new URL('/_health', endpoint)).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) break;
    if (child.exitCode !== null || child.pid === undefined) throw new Error('the server did not start');
    await delay(5);
  }
  const startMs = performance.now() - started;
  return {
    endpoint,
    credentials,
    startMs,
    memory: new ServerMemory(child.pid ?? 0),
    stop: async () => {
      stopping = true;
      child.kill('SIGTERM');
      await exited;
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        resolve(typeof address === 'object' && address !== null ? address.port : 0);
      });
    });
  });
}
