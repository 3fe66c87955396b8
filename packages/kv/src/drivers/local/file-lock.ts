import type { DatabaseSync, StatementSync } from 'node:sqlite';

const busy = 5;

/**
 * A lock between processes on a file of its own, shared by many or held by one. It is a lock of the operating system,
 * taken through SQLite because Node has no call for it: it ends with the process however that dies, so there is never
 * a stale one. Nothing else may open the file: closing it again would drop the lock.
 */
export class FileLock {
  readonly #database: DatabaseSync;
  /** Prepared when first needed: preparing reads the file, which fails while another holds it. */
  #look: StatementSync | undefined;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** False when another holds it in any way. */
  tryExclusive(): boolean {
    return granted(() => this.#database.exec('BEGIN EXCLUSIVE'));
  }

  /** False when another holds it for itself. */
  tryShared(): boolean {
    this.#database.exec('BEGIN');
    if (this.isFree()) return true;
    this.#database.exec('ROLLBACK');
    return false;
  }

  /** Whether nobody holds it for itself. */
  isFree(): boolean {
    return granted(() => {
      this.#look ??= this.#database.prepare('SELECT 1 FROM sqlite_schema');
      this.#look.get();
    });
  }

  release(): void {
    this.#database.exec('ROLLBACK');
  }

  /** Releases it as well. */
  close(): void {
    this.#database.close();
  }
}

export async function openFileLock(file: string): Promise<FileLock> {
  const { DatabaseSync } = await import('node:sqlite');
  return new FileLock(new DatabaseSync(file));
}

function granted(ask: () => void): boolean {
  try {
    ask();
    return true;
  } catch (error) {
    if ((error as { errcode?: unknown }).errcode === busy) return false;
    throw error;
  }
}
