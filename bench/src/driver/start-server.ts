import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Credentials } from './api.ts';

export interface BenchServer {
  readonly endpoint: URL;
  readonly credentials: Credentials;
  readonly startMs: number;
  /** Anonymous memory of all its processes, in MB. */
  memory(): number;
  stop(): Promise<void>;
}

/** Starts the bundled server with its default, durable settings on a fresh folder. */
export async function startServer(folder: string, importFolder: string): Promise<BenchServer> {
  const port = await freePort();
  const credentials = {
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  };
  mkdirSync(folder, { recursive: true });
  const config = {
    listen_address: `127.0.0.1:${port}`,
    logging: { level: 'WARN' },
    database: { type: 'local', local: { path: join(folder, 'metadata') } },
    blockstore: {
      type: 'local',
      signing: { secret_key: 'signing-secret-of-the-benchmark' },
      local: { path: join(folder, 'block'), import_enabled: true, allowed_external_prefixes: [importFolder] },
    },
    committed: { local_cache: { dir: join(folder, 'cache') } },
    auth: { encrypt: { secret_key: 'encryption-secret-of-the-benchmark' } },
    installation: {
      user_name: 'bench',
      access_key_id: credentials.accessKeyId,
      secret_access_key: credentials.secretAccessKey,
    },
  };
  const file = join(folder, 'config.yaml');
  writeFileSync(file, JSON.stringify(config));
  const program = join(import.meta.dirname, '..', '..', '..', 'dist', 'svc.js');
  const started = performance.now();
  const child = spawn(process.execPath, [program, 'run', '--config', file], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const endpoint = new URL(`http://127.0.0.1:${port}`);
  for (;;) {
    const healthy = await fetch(new URL('/_health', endpoint)).then(
      (response) => response.ok,
      () => false,
    );
    if (healthy) break;
    if (child.exitCode !== null) throw new Error('the server did not start');
    await delay(5);
  }
  const startMs = performance.now() - started;
  const processes = (): number[] => {
    const parents = new Map<number, number>();
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
      } catch {
        // The process ended while we looked.
      }
    }
    return [...parents]
      .filter(([pid, parent]) => pid === child.pid || parent === child.pid)
      .map(([pid]) => pid);
  };
  return {
    endpoint,
    credentials,
    startMs,
    memory: () =>
      processes().reduce((sum, pid) => {
        const status = readFileSync(`/proc/${pid}/status`, 'utf8');
        return sum + Number(/RssAnon:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1000;
      }, 0),
    stop: async () => {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
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
