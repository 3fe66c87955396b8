import { BlockError, type BlockAdapter } from '@svc/block';
import { decodeEntry, decodeValue, type Entry } from '@svc/encoding';
import { CorruptTableError } from '@svc/sstable';
import { createHash } from 'node:crypto';
import { decodeRangeValue } from '../committed/format/meta-range.ts';
import { pointerOf } from '../objects/object-entry.ts';
import type { DamageFinding } from './finding.ts';
import { IdSet, isContentId } from './id-set.ts';
import type { StoredTables } from './stored-tables.ts';
import type { VerifyProgress } from './verify-repository.ts';

/** Objects that are read at once. */
const atOnce = 8;

interface NamedObject {
  readonly path: string;
  readonly entry: Pick<Entry, 'address' | 'addressType' | 'size' | 'etag'>;
}

type Problem = Pick<DamageFinding, 'problem' | 'reason'>;

interface ObjectVerifierParts {
  readonly repository: string;
  readonly storageNamespace: string;
  readonly adapter: BlockAdapter;
  readonly tables: StoredTables;
  readonly progress: VerifyProgress;
}

/** Reads the data of the objects of trees, each address once however many entries name it. */
export class ObjectVerifier {
  readonly #parts: ObjectVerifierParts;
  readonly #metaRanges = new IdSet();
  readonly #ranges = new IdSet();
  readonly #addresses = new IdSet();

  constructor(parts: ObjectVerifierParts) {
    this.#parts = parts;
  }

  /** Reads what a tree names. Tables that are damaged have been told of before. */
  async *verify(metaRangeId: string, shownBy: string): AsyncGenerator<DamageFinding> {
    if (!isContentId(metaRangeId) || this.#metaRanges.has(metaRangeId)) return;
    this.#metaRanges.add(metaRangeId);
    const { tables } = this.#parts;
    const ranges: string[] = [];
    await tables.check('metarange', metaRangeId, (_, value) => {
      ranges.push(decodeRangeValue(value).identity.toString('latin1'));
    });
    for (const range of ranges) {
      if (!isContentId(range) || this.#ranges.has(range)) continue;
      this.#ranges.add(range);
      yield* this.#verifyAll(await this.#objectsOf(range), shownBy);
    }
  }

  /** The objects of a range whose data was not read yet. */
  async #objectsOf(range: string): Promise<NamedObject[]> {
    const objects: NamedObject[] = [];
    await this.#parts.tables.check('range', range, (key, value) => {
      const { address, addressType, size, etag } = readEntry(value);
      const id = createHash('sha256').update(`${addressType} ${address}`).digest('hex');
      if (this.#addresses.has(id)) return;
      this.#addresses.add(id);
      objects.push({ path: key.toString('utf8'), entry: { address, addressType, size, etag } });
    });
    return objects;
  }

  async *#verifyAll(objects: readonly NamedObject[], shownBy: string): AsyncGenerator<DamageFinding> {
    const rest = objects.values();
    const found: DamageFinding[] = [];
    const work = async (): Promise<void> => {
      for (const object of rest) {
        const problem = await this.#problemOf(object.entry);
        if (problem === undefined) continue;
        const { path, entry } = object;
        found.push({
          type: 'damage',
          repository: this.#parts.repository,
          kind: 'object',
          id: path,
          problem: problem.problem,
          reason: `${problem.reason}; its data is ${entry.address}, and ${shownBy} shows it`,
          lost: [],
        });
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    yield* found;
  }

  async #problemOf(entry: NamedObject['entry']): Promise<Problem | undefined> {
    const { adapter, storageNamespace, progress } = this.#parts;
    const pointer = pointerOf(storageNamespace, entry);
    const hash = createHash('md5');
    let size = 0;
    try {
      const body = await adapter.get(pointer);
      for await (const chunk of body.stream()) {
        size += (chunk as Buffer).length;
        hash.update(chunk as Buffer);
      }
    } catch (error) {
      if (!(error instanceof BlockError) || error.kind !== 'not_found') throw error;
      return { problem: 'missing', reason: 'its data is missing from the store' };
    } finally {
      progress.objects++;
      progress.bytes += size;
    }
    if (size !== entry.size) return { problem: 'damaged', reason: `it has ${size} bytes, not ${entry.size}` };
    // That of an upload in parts is one of their checksums.
    if (!/^[\da-f]{32}$/.test(entry.etag) || hash.digest('hex') === entry.etag) return undefined;
    // A store that encrypts with a key of its own tells etags that are no checksums.
    if ((await adapter.properties(pointer)).etag === entry.etag) return undefined;
    return { problem: 'damaged', reason: `its checksum is not ${entry.etag}` };
  }
}

function readEntry(value: Buffer): Entry {
  try {
    return decodeEntry(decodeValue(value).data);
  } catch (error) {
    throw new CorruptTableError('a record is unreadable', { cause: error });
  }
}
