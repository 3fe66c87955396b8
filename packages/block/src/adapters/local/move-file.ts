import { renameSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { InlineCalls } from './inline-calls.ts';

const inline = new InlineCalls();

/** Renames a file, without a hop to the thread pool while the disk is quick. */
export async function moveFile(from: string, to: string): Promise<void> {
  const began = inline.begin();
  if (began === undefined) {
    await rename(from, to);
    return;
  }
  try {
    renameSync(from, to);
  } finally {
    inline.ended(began);
  }
}
