import { lstat, lutimes, readlink, rm, symlink } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';

const beatMs = 5000;
/** An owner that has not shown itself for so long is gone, even if another process has its number now. */
const staleMs = 60_000;

/**
 * Lets one process fetch while the others wait until it is done or gone. Two owners at once would only do the work
 * twice. The lock is a link to its owner's process number: made in one step, it is never without one.
 */
export async function fetchLock(
  folder: string,
  what: string,
  isComplete: () => boolean,
): Promise<() => Promise<void>> {
  const path = `${folder}.owner`;
  for (let waits = 0; ; waits++) {
    if (isComplete()) return () => Promise.resolve();
    try {
      await symlink(String(process.pid), path);
      const heart = setInterval(() => void beat(path), beatMs);
      heart.unref();
      return async () => {
        clearInterval(heart);
        await rm(path, { force: true });
      };
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    if (await isAbandoned(path)) await rm(path, { force: true });
    else {
      if (waits === 10) process.stderr.write(`waiting for ${what}, which another process is fetching …\n`);
      await delay(100);
    }
  }
}

async function beat(path: string): Promise<void> {
  const now = new Date();
  // The cache may be removed meanwhile; the installation then fails by itself.
  await lutimes(path, now, now).catch(() => undefined);
}

async function isAbandoned(path: string): Promise<boolean> {
  try {
    const [owner, { mtimeMs }] = await Promise.all([readlink(path), lstat(path)]);
    return !isAlive(Number(owner)) || Date.now() - mtimeMs > staleMs;
  } catch (error) {
    // Given back while we looked.
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
