import { diskError } from './disk-errors.ts';
import { openGate } from './opening-gate.ts';
import { openChecked } from './store-file.ts';

/**
 * Writes the whole store as it is at one moment into an empty folder, beside the server that uses it. Nobody waits for it:
 * what is written meanwhile is left out.
 */
export async function snapshotLocalStore(path: string, folder: string): Promise<void> {
  const { openLmdb } = await import('./lmdb.ts');
  const gate = await openGate(path).catch((error: unknown) => {
    throw diskError('connect_failed', path, error);
  });
  try {
    const db = await gate.whileOpening(() => openChecked(path, () => openLmdb(path)));
    try {
      // Compacted: pages that hold nothing are left out.
      await db.backup(folder, true);
    } finally {
      await db.close();
    }
  } finally {
    gate.close();
  }
}
