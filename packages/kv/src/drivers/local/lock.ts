import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KvError } from '../../errors.ts';
import { diskError } from './disk-errors.ts';
import { openFileLock, type FileLock } from './file-lock.ts';
import { prepareFolder } from './folder.ts';

export interface LocalStoreLock {
  /** Idempotent. The end of the process releases the lock as well. */
  release(): Promise<void>;
}

/**
 * Makes this process the one server of the folder. Its worker processes and the tools that may run beside it open the
 * store without this lock. The pid lies in a file of its own, which others may read.
 */
export async function lockLocalStore(path: string): Promise<LocalStoreLock> {
  await prepareFolder(path);
  const pidFile = join(path, 'server.pid');
  let lock: FileLock | undefined;
  try {
    lock = await openFileLock(join(path, 'server.lock'));
    if (!lock.tryExclusive()) throw await lockedBy(path, pidFile);
    await writeFile(pidFile, `${process.pid}\n`);
  } catch (error) {
    lock?.close();
    throw diskError('connect_failed', path, error);
  }
  const held = lock;
  let released = false;
  return {
    async release(): Promise<void> {
      if (released) return;
      released = true;
      await rm(pidFile, { force: true });
      held.close();
    },
  };
}

async function lockedBy(path: string, pidFile: string): Promise<KvError> {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim();
  const owner = pid === '' ? 'another process' : `the server with pid ${pid}`;
  return new KvError(
    'locked',
    `key-value store ${path} is in use by ${owner}; stop it first, or set database.local.path to another folder`,
  );
}
