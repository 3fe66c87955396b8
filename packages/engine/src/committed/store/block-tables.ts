import { BlockError, type BlockAdapter, type ObjectPointer } from '@svc/block';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { EngineError } from '../../errors.ts';
import type { CommittedContext } from '../context.ts';
import { tablePath } from '../format/table-id.ts';
import type { WrittenTable } from './table-store.ts';

/** What the trees need of `BlockStores`. */
export interface BlockStoreSet {
  get(storageId: string): BlockAdapter;
}

const readChunk = 1024 * 1024;
/** Most ranges are smaller. */
const spareSize = 4 * 1024 * 1024;
const maxSpares = 2;

/** Tables in the block store: `<metadata prefix>/<id>` under the repository's namespace. */
export class BlockTables {
  readonly #stores: BlockStoreSet;
  readonly #spares: Buffer[] = [];

  constructor(stores: BlockStoreSet) {
    this.#stores = stores;
  }

  async upload(context: CommittedContext, table: WrittenTable): Promise<void> {
    const adapter = this.#stores.get(context.storageId);
    const pointer = pointerTo(context, table.id);
    if (table.bytes !== undefined) {
      await adapter.put(pointer, table.bytes, { immutable: true });
      return;
    }
    if ((await adapter.putFile?.(pointer, table.path)) === true) return;
    if (table.size <= spareSize) {
      await this.#uploadWhole(adapter, pointer, table);
      return;
    }
    const stream = createReadStream(table.path, { highWaterMark: readChunk });
    try {
      await adapter.put(pointer, { stream, size: table.size }, { immutable: true });
    } finally {
      stream.destroy();
    }
  }

  /** Through a buffer that is used again: a few MiB of fresh memory per commit would make the collector run for each. */
  async #uploadWhole(adapter: BlockAdapter, pointer: ObjectPointer, table: WrittenTable): Promise<void> {
    const spare = this.#spares.pop() ?? Buffer.allocUnsafeSlow(spareSize);
    const file = await open(table.path);
    try {
      let length = 0;
      while (length < table.size) {
        const { bytesRead } = await file.read(spare, length, table.size - length, length);
        if (bytesRead === 0) throw new Error(`${table.path} ended while it was read`);
        length += bytesRead;
      }
    } finally {
      await file.close();
    }
    await adapter.put(pointer, spare.subarray(0, table.size), { immutable: true });
    if (this.#spares.length < maxSpares) this.#spares.push(spare);
  }

  async download(context: CommittedContext, id: string, target: string): Promise<void> {
    const adapter = this.#stores.get(context.storageId);
    const pointer = pointerTo(context, id);
    if ((await adapter.getFile?.(pointer, target)) === true) return;
    const body = await adapter.get(pointer).catch((error: unknown) => {
      if (!(error instanceof BlockError) || error.kind !== 'not_found') throw error;
      throw new EngineError(
        'corrupt',
        `metadata ${context.metadataPrefix}/${id} is missing from ${context.storageNamespace}; restore the object from a backup of the block store`,
        { cause: error, subject: 'storage' },
      );
    });
    try {
      if (body.bytes === undefined) await pipeline(body.stream(), createWriteStream(target, { flags: 'wx' }));
      else await writeFile(target, body.bytes, { flag: 'wx' });
    } catch (error) {
      body.dispose();
      await rm(target, { force: true });
      throw error;
    }
  }

  exists(context: CommittedContext, id: string): Promise<boolean> {
    return this.#stores.get(context.storageId).exists(pointerTo(context, id));
  }

  /** The whole table; undefined when there is none. */
  async read(context: CommittedContext, id: string): Promise<Buffer | undefined> {
    try {
      const body = await this.#stores.get(context.storageId).get(pointerTo(context, id));
      return body.bytes ?? (await buffer(body.stream()));
    } catch (error) {
      if (error instanceof BlockError && error.kind === 'not_found') return undefined;
      throw error;
    }
  }
}

function pointerTo(context: CommittedContext, id: string): ObjectPointer {
  return {
    storageNamespace: context.storageNamespace,
    identifier: tablePath(context.metadataPrefix, id),
    identifierType: 'relative',
  };
}
