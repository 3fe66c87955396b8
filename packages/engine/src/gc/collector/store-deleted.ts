import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { finished } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import type { BlockAdapter } from '@svc/block';
import { ParquetWriter, fileWriter } from 'hyparquet-writer';
import { readGarbageFile, type GarbageWriter } from './garbage-file.ts';
import type { GcPlaces } from './places.ts';

const rowsPerGroup = 100_000;

/** The log of what is gone, in the forms in which other tools look for it. */
export async function storeDeleted(
  adapter: BlockAdapter,
  places: GcPlaces,
  runId: string,
  deleted: GarbageWriter,
  scratch: string,
): Promise<void> {
  if (deleted.objects === 0) return;
  const [parquetPath, textPath] = [join(scratch, 'deleted.parquet'), join(scratch, 'deleted.text')];
  const log = new DeletedLog(parquetPath);
  const text = createWriteStream(textPath);
  for await (const { address, size, class: garbage, condemned_at: at } of readGarbageFile(deleted.path)) {
    await log.add(address, size, garbage, at);
    if (!text.write(`${address}\n`)) await once(text, 'drain');
  }
  await log.finish();
  text.end();
  await finished(text);
  await put(adapter, places, places.deleted(runId), parquetPath);
  await put(adapter, places, places.deletedText(runId), textPath);
}

async function put(adapter: BlockAdapter, places: GcPlaces, key: string, path: string): Promise<void> {
  const { size } = await stat(path);
  await adapter.put(places.pointer(key), { stream: createReadStream(path), size });
}

class DeletedLog {
  readonly #parquet: ParquetWriter;
  #addresses: string[] = [];
  #sizes: bigint[] = [];
  #classes: string[] = [];
  #times: bigint[] = [];

  constructor(path: string) {
    const column = (name: string, type: 'BYTE_ARRAY' | 'INT64') =>
      type === 'INT64'
        ? ({ name, type, converted_type: 'INT_64', repetition_type: 'REQUIRED' } as const)
        : ({ name, type, converted_type: 'UTF8', repetition_type: 'REQUIRED' } as const);
    this.#parquet = new ParquetWriter({
      writer: fileWriter(path),
      codec: 'GZIP',
      compressors: { GZIP: (input) => gzipSync(input) },
      statistics: false,
      schema: [
        { name: 'root', num_children: 4 },
        column('address', 'BYTE_ARRAY'),
        column('size', 'INT64'),
        column('class', 'BYTE_ARRAY'),
        column('condemned_at', 'INT64'),
      ],
    });
  }

  async add(address: string, size: number, garbage: string, condemnedAt: number): Promise<void> {
    this.#addresses.push(address);
    this.#sizes.push(BigInt(size));
    this.#classes.push(garbage);
    this.#times.push(BigInt(Math.floor(condemnedAt / 1000)));
    if (this.#addresses.length >= rowsPerGroup) await this.#writeGroup();
  }

  async finish(): Promise<void> {
    if (this.#addresses.length > 0) await this.#writeGroup();
    await this.#parquet.finish();
  }

  async #writeGroup(): Promise<void> {
    await this.#parquet.write({
      columnData: [
        { name: 'address', data: this.#addresses },
        { name: 'size', data: this.#sizes },
        { name: 'class', data: this.#classes },
        { name: 'condemned_at', data: this.#times },
      ],
      rowGroupSize: rowsPerGroup,
    });
    [this.#addresses, this.#sizes, this.#classes, this.#times] = [[], [], [], []];
  }
}
