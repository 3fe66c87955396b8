import { compareBytes, IdentityHasher } from '@svc/encoding';
import { createHash } from 'node:crypto';
import { CorruptTableError } from './corrupt-table-error.ts';
import { internalTrailerLength } from './table-format.ts';
import type { TableReader } from './table-reader.ts';
import type { TableType } from './table-writer.ts';

/** Keys that cannot be read: those above `after`, up to `upTo`. */
export interface LostKeys {
  /** Undefined when the table's first keys are lost. */
  readonly after: Buffer | undefined;
  /** Not below the last of them. */
  readonly upTo: Buffer;
  readonly reason: string;
}

/** What a table holds, as its records show, not as its properties say. */
export interface TableCheck {
  /** Computed from the records. Without meaning when keys are lost. */
  readonly id: string;
  readonly minKey: Buffer;
  readonly maxKey: Buffer;
  readonly count: number;
  /** What the writer noted; undefined when it is missing. */
  readonly estimatedSize: number | undefined;
  readonly lost: readonly LostKeys[];
}

const facts = new Set(['min_key', 'max_key', 'count', 'estimated_size_bytes']);
const pieceSize = 256 * 1024;
const bar = 0x7c;

/**
 * Reads every record, going on behind damaged blocks. A record that `visit` cannot understand is for it to say with a
 * `CorruptTableError`. Throws one when nothing of the table can be read.
 */
export function checkTable(
  reader: TableReader,
  type: TableType,
  visit?: (key: Buffer, value: Buffer) => void,
): TableCheck {
  const properties = reader.properties();
  const input = new HashInput();
  const lost: LostKeys[] = [];
  const cursor = reader.scan();
  const { index } = reader;
  let minKey: Buffer | undefined;
  let last: Buffer | undefined;
  let count = 0;
  for (let block = 0; block < index.count; block++) {
    cursor.seekBlock(block);
    try {
      // Only an empty table has a block without records.
      while (cursor.next() && cursor.blockNumber === block) {
        const key = Buffer.from(cursor.key.subarray(0, cursor.keyLength));
        const value = cursor.block.subarray(cursor.valueStart, cursor.valueEnd);
        if (last !== undefined && compareBytes(last, key) >= 0)
          throw new CorruptTableError('keys are out of order');
        visit?.(key, value);
        input.add(key);
        input.add(value);
        minKey ??= key;
        last = key;
        count++;
        if (!cursor.endsBlock) continue;
        if (index.find(key) !== block) throw new CorruptTableError('the index leads past a key');
        break;
      }
    } catch (error) {
      if (!(error instanceof CorruptTableError)) throw error;
      const separator = index.storedSeparator(block);
      const upTo = Buffer.from(separator.subarray(0, separator.length - internalTrailerLength));
      lost.push({ after: last, upTo, reason: error.message });
    }
  }
  cursor.release();
  const size = Number(properties.get('estimated_size_bytes')?.toString() ?? Number.NaN);
  return {
    id: input.digest(userProperties(properties, type)),
    minKey: minKey ?? Buffer.alloc(0),
    maxKey: last ?? Buffer.alloc(0),
    count,
    estimatedSize: Number.isSafeInteger(size) ? size : undefined,
    lost,
  };
}

/** Those that are hashed into the id: not the writer's own, and not what it noted about the records. */
function userProperties(properties: ReadonlyMap<string, Buffer>, type: TableType): Record<string, string> {
  const hashed: Record<string, string> = { type };
  for (const [name, value] of properties)
    if (!name.startsWith('rocksdb.') && !facts.has(name)) hashed[name] = value.toString();
  return hashed;
}

/** The bytes that ids are hashes of: each part behind its length in decimal, with a bar after it. */
class HashInput {
  readonly #hash = createHash('sha256');
  readonly #piece = Buffer.allocUnsafeSlow(pieceSize);
  #length = 0;

  add(part: Buffer): void {
    if (this.#length + part.length + 20 > pieceSize) this.#flush();
    this.#length += this.#piece.write(String(part.length), this.#length, 'latin1');
    if (this.#length + part.length + 1 > pieceSize) {
      this.#flush();
      this.#hash.update(part);
    } else {
      part.copy(this.#piece, this.#length);
      this.#length += part.length;
    }
    this.#piece[this.#length++] = bar;
  }

  digest(properties: Record<string, string>): string {
    this.#flush();
    const last = new IdentityHasher();
    last.map(properties);
    return this.#hash.update(last.gathered()).digest('hex');
  }

  #flush(): void {
    this.#hash.update(this.#piece.subarray(0, this.#length));
    this.#length = 0;
  }
}
