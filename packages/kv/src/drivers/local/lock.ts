import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { KvError } from '../../errors.ts';
import { diskError } from './disk-errors.ts';
import { prepareFolder } from './folder.ts';

const busy = 5;

export interface LocalStoreLock {
  /** Idempotent. The end of the process releases the lock as well. */
  release(): Promise<void>;
}

/**
 * Makes this process the one server of the folder. Its worker processes and the tools that may run beside it open the
 * store without this lock. The lock itself is a file lock of the operating system, taken through SQLite because Node
 * has no call for it: it ends with the process however that dies, so there is never a stale one. The pid lies in a
 * file of its own: opening the locked file again in this process would drop the lock.
 */
export async function lockLocalStore(path: string): Promise<LocalStoreLock> {
  await prepareFolder(path);
  const { DatabaseSync } = await import('node:sqlite');
  const pidFile = join(path, 'server.pid');
  let lock: InstanceType<typeof DatabaseSync> | undefined;
  try {
    lock = new DatabaseSync(join(path, 'server.lock'));
    lock.exec('BEGIN EXCLUSIVE');
    await writeFile(pidFile, `${process.pid}\n`);
  } catch (error) {
    lock?.close();
    if ((error as { errcode?: unknown }).errcode === busy) throw await lockedBy(path, pidFile);
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
