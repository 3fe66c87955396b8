import { unwatchFile, watchFile } from 'node:fs';

/** Calls back when the content of a file may have changed; follows links, so mounted secrets work. */
export function watchForChange(path: string, changed: () => void): () => void {
  const listener = (
    now: { mtimeMs: number; ino: number },
    before: { mtimeMs: number; ino: number },
  ): void => {
    if (now.mtimeMs !== 0 && (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino)) changed();
  };
  watchFile(path, { interval: 1000, persistent: false }, listener);
  return () => unwatchFile(path, listener);
}
