import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findLeaks } from './secrets/find-leaks.ts';
import { SecretBook } from './secrets/secret-book.ts';
import { ServerHost } from './server-host.ts';
import { removeSvcBundle } from './svc/svc-bundle.ts';
import { compileCache, runFolderVariable } from './temp-dir.ts';
import { hostVariable } from './test-server.ts';

/** Runs once around a whole test run; the variables are inherited by every test process. */
export async function setup(): Promise<() => Promise<void>> {
  // Every project of the run comes here; the first one sets up for all.
  if (process.env[runFolderVariable] !== undefined) return () => Promise.resolve();
  const host = new ServerHost();
  const folder = mkdtempSync(join(tmpdir(), 'svc-run-'));
  process.env[runFolderVariable] = folder;
  // Test processes and what they start read the same sources again and again.
  process.env['NODE_COMPILE_CACHE'] = compileCache(folder);
  process.env[hostVariable] = await host.listen();
  return async () => {
    await host.close();
    const leaks = findLeaks(new SecretBook(folder));
    // Test processes are ended without ceremony, so their own clean-up may not have run.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    removeSvcBundle(folder);
    if (leaks.length === 0) return;
    process.exitCode = 1;
    throw new Error(`${leaks.length} secrets in the logs of this run:\n${leaks.slice(0, 20).join('\n')}`);
  };
}
