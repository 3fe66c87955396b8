import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, tempDir, waitUntil } from '@svc/testing';

export const root = join(import.meta.dirname, '../../..');

export interface SvcServer {
  readonly url: string;
  readonly home: string;
  stop(): Promise<void>;
}

let bundle: string | undefined;

/** A copy of what people run: another build may begin while the tests are running. */
export function bundleFolder(): string {
  if (bundle !== undefined) return bundle;
  const result = spawnSync(process.execPath, [join(root, 'scripts', 'bootstrap.mjs'), '--build'], {
    encoding: 'utf8',
  });
  if (result.status !== 0) throw new Error(`the bundle cannot be built: ${result.stderr}`);
  const copy = join(root, 'node_modules', '.cache', `svc-ui-test-${process.pid}`);
  cpSync(join(root, 'dist'), copy, { recursive: true });
  if (!existsSync(join(copy, 'ui', 'index.html'))) throw new Error('the build has no web UI');
  bundle = copy;
  return copy;
}

export function removeBundle(): void {
  if (bundle !== undefined) rmSync(bundle, { recursive: true, force: true });
  bundle = undefined;
}

/** Starts the server as `npm start` does, in a home of its own. */
export async function startSvc(
  preset: '--quickstart' | '--local-settings',
  env: Record<string, string> = {},
): Promise<SvcServer> {
  const home = tempDir();
  const url = `http://127.0.0.1:${await freePort()}`;
  const child = spawn(process.execPath, [join(bundleFolder(), 'svc.js'), 'run', preset], {
    cwd: home,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, SVC_LISTEN_ADDRESS: new URL(url).host, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (output += text.toString()));
  await waitUntil(async () => {
    if (child.exitCode !== null) throw new Error(`svc ended with ${child.exitCode}:\n${output}`);
    return await fetch(`${url}/_health`).then(
      (answer) => answer.ok,
      () => false,
    );
  });
  return { url, home, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => child.once('close', resolve));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
  await ended;
  clearTimeout(timer);
}
