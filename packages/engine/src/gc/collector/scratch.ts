import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';

const minuteMs = 60_000;
/** Nobody has renewed it for so long: the process died. */
const deadAfterMs = 60 * minuteMs;

/** A folder for the temporary files of one run; what processes that died have left behind goes, too. */
export async function withScratch<T>(parent: string, work: (folder: string) => Promise<T>): Promise<T> {
  await mkdir(parent, { recursive: true });
  await removeDead(parent);
  const folder = await mkdtemp(join(parent, 'run-'));
  const alive = setInterval(
    () => void utimes(folder, new Date(), new Date()).catch(() => undefined),
    minuteMs,
  );
  try {
    return await work(folder);
  } finally {
    clearInterval(alive);
    await rm(folder, { recursive: true, force: true });
  }
}

async function removeDead(parent: string): Promise<void> {
  for (const name of await readdir(parent)) {
    const folder = join(parent, name);
    const about = await stat(folder).catch(() => undefined);
    if (about === undefined || Date.now() - about.mtimeMs < deadAfterMs) continue;
    await rm(folder, { recursive: true, force: true });
  }
}
