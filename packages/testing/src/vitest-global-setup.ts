import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServerHost } from './server-host.ts';
import { runFolderVariable } from './temp-dir.ts';
import { hostVariable } from './test-server.ts';

/** Runs once around a whole test run; the variables are inherited by every test process. */
export async function setup(): Promise<() => Promise<void>> {
  const host = new ServerHost();
  const folder = mkdtempSync(join(tmpdir(), 'svc-run-'));
  process.env[hostVariable] = await host.listen();
  process.env[runFolderVariable] = folder;
  return async () => {
    await host.close();
    // Test processes are ended without ceremony, so their own clean-up may not have run.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
}
