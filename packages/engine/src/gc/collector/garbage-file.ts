import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { finished, pipeline } from 'node:stream/promises';
import { PassThrough, type Readable } from 'node:stream';
import { createInterface } from 'node:readline';
import { createGunzip, createGzip } from 'node:zlib';
import { BlockError, type BlockAdapter, type ObjectPointer } from '@svc/block';
import type { GarbageClass } from '../../face/gc-runs.ts';

/** One object that nothing keeps. */
export interface Garbage {
  /** Key below the namespace. */
  readonly address: string;
  readonly size: number;
  /** Milliseconds since 1970, as the store told them. */
  readonly modified: number;
  /** Milliseconds since 1970 at which it was first found so, in an unbroken row of runs. */
  readonly condemned_at: number;
  readonly class: GarbageClass;
}

/** Lines of garbage in a compressed file of this machine, in the order in which the store lists them. */
export class GarbageWriter {
  readonly path: string;
  readonly #gzip = createGzip({ level: 1 });
  readonly #file: WriteStream;
  readonly #written: Promise<void>;
  objects = 0;
  bytes = 0;
  /** When the first of them was condemned; undefined: there is none. */
  oldest: number | undefined;

  constructor(path: string) {
    this.path = path;
    this.#file = createWriteStream(path);
    this.#written = pipeline(this.#gzip, this.#file);
    // Whoever writes or finishes sees the failure.
    this.#written.catch(() => undefined);
  }

  async add(garbage: Garbage): Promise<void> {
    this.objects += 1;
    this.bytes += garbage.size;
    this.oldest = Math.min(this.oldest ?? garbage.condemned_at, garbage.condemned_at);
    if (this.#gzip.write(`${JSON.stringify(garbage)}\n`)) return;
    const drained = new Promise((resolve) => this.#gzip.once('drain', resolve));
    await Promise.race([drained, this.#written]);
  }

  async finish(): Promise<void> {
    this.#gzip.end();
    await this.#written;
  }

  async store(adapter: BlockAdapter, pointer: ObjectPointer): Promise<void> {
    const { size } = await stat(this.path);
    await adapter.put(pointer, { stream: createReadStream(this.path), size });
  }
}

export function readGarbageFile(path: string): AsyncGenerator<Garbage> {
  return lines(createReadStream(path));
}

/** Nothing when there is no such file. */
export async function* readStoredGarbage(
  adapter: BlockAdapter,
  pointer: ObjectPointer,
): AsyncGenerator<Garbage> {
  try {
    const body = await adapter.get(pointer);
    const stream = body.bytes === undefined ? body.stream() : new PassThrough().end(body.bytes);
    yield* lines(stream);
  } catch (error) {
    if (!(error instanceof BlockError) || error.kind !== 'not_found') throw error;
  }
}

async function* lines(source: Readable): AsyncGenerator<Garbage> {
  const gunzip = createGunzip();
  source.on('error', (error) => gunzip.destroy(error));
  source.pipe(gunzip);
  try {
    for await (const line of createInterface({ input: gunzip, crlfDelay: Infinity })) {
      if (line !== '') yield JSON.parse(line) as Garbage;
    }
    // A reader of lines does not tell of a broken stream.
    await finished(gunzip, { readable: false, writable: false }).catch((error: unknown) => {
      throw error;
    });
  } finally {
    source.destroy();
    gunzip.destroy();
  }
}
