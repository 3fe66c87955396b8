import { instantiateWasm, type WasmMemory } from '@svc/encoding';
import { listingWasm } from '../listing-wasm.ts';
import { defaultContentType } from '../objects/upload-object.ts';
import type { ItemCursor } from './item-cursor.ts';
import { plainBytes, type ShownFolder } from './shown-folder.ts';

/** `wasm/listing.as` says what each of them does. */
interface ListingExports {
  readonly memory: WasmMemory;
  heap(): number;
  setFolder(start: number, end: number, text: number, length: number): void;
  object(
    at: number,
    key: number,
    keyEnd: number,
    address: number,
    addressEnd: number,
    etag: number,
    etagEnd: number,
    type: number,
    typeEnd: number,
    size: number,
    time: number,
  ): number;
}

/** Where things lie in a page's bytes, and the numbers beside them. */
export type ListedFields = Pick<
  ItemCursor,
  | 'keyStart'
  | 'keyEnd'
  | 'addressStart'
  | 'addressEnd'
  | 'etagStart'
  | 'etagEnd'
  | 'contentTypeStart'
  | 'contentTypeEnd'
  | 'size'
  | 'seconds'
>;

/** The fixed texts in the order of their use; the first continues a list. */
const parts = [
  ',{"path":"',
  '","path_type":"object","physical_address":"',
  '","checksum":"',
  '","size_bytes":',
  ',"mtime":',
  ',"content_type":"',
  `,"content_type":${JSON.stringify(defaultContentType)}}`,
  '"}',
];
const partsTable = 0;
const plainTable = 256;
/** Copies go on past an end by this much. */
const slack = 16;
const folderRoom = 4096;
/** Fixed texts and the longest numbers of one object. */
const objectRoom = 256;
const wasmPage = 65_536;
const maxIdleBytes = 8 * 1024 * 1024;

/** Writes plain objects of a page as JSON: WebAssembly with memory of its own, for one page at a time. */
export class ListingKernel {
  static #idle: ListingKernel | undefined;
  readonly #run: ListingExports;
  readonly #folder: number;
  readonly #input: number;
  #memory: Buffer;
  #output = 0;
  #at = 0;
  #hasFolder = false;

  private constructor() {
    this.#run = instantiateWasm(listingWasm) as ListingExports;
    this.#memory = Buffer.from(this.#run.memory.buffer);
    this.#memory.set(plainBytes, plainTable);
    let at = this.#run.heap();
    for (const [index, part] of parts.entries()) {
      this.#memory.writeUInt32LE(at, partsTable + index * 8);
      this.#memory.writeUInt32LE(part.length, partsTable + index * 8 + 4);
      at += this.#memory.write(part, at, 'latin1');
    }
    this.#folder = at + slack;
    this.#input = this.#folder + folderRoom + slack;
  }

  /** One for a page with these bytes; give it back by `finish`. */
  static take(page: Buffer): ListingKernel {
    const kernel = ListingKernel.#idle ?? new ListingKernel();
    ListingKernel.#idle = undefined;
    kernel.#output = kernel.#input + page.length + slack;
    kernel.#at = kernel.#output;
    kernel.#reserve(2 * page.length);
    kernel.#memory.set(page, kernel.#input);
    kernel.#hasFolder = false;
    return kernel;
  }

  append(text: Buffer): void {
    this.#reserve(text.length);
    this.#memory.set(text, this.#at);
    this.#at += text.length;
  }

  /**
   * From now on objects whose address lies in this folder can be written. A folder that is very long or needs escapes
   * is not taken: no object can be written then.
   */
  setFolder({ start, end, json }: ShownFolder): void {
    this.#hasFolder = json !== undefined && json.length <= folderRoom;
    if (json === undefined || !this.#hasFolder) return;
    this.#memory.set(json, this.#folder);
    this.#run.setFolder(this.#input + start, this.#input + end, this.#folder, json.length);
  }

  /** Continues the list with an object; false, with nothing written, when it needs escapes or lies in another folder. */
  object(fields: ListedFields): boolean {
    const { keyStart, keyEnd, addressStart, addressEnd, etagStart, etagEnd } = fields;
    const { contentTypeStart, contentTypeEnd, size, seconds } = fields;
    if (!this.#hasFolder || !(size >= 0 && seconds >= 0)) return false;
    const texts = keyEnd - keyStart + addressEnd - addressStart + etagEnd - etagStart;
    this.#reserve(texts + contentTypeEnd - contentTypeStart + folderRoom + objectRoom);
    const input = this.#input;
    const end = this.#run.object(
      this.#at,
      input + keyStart,
      input + keyEnd,
      input + addressStart,
      input + addressEnd,
      input + etagStart,
      input + etagEnd,
      input + contentTypeStart,
      input + contentTypeEnd,
      size,
      seconds,
    );
    if (end === 0) return false;
    this.#at = end;
    return true;
  }

  /** A copy of everything written, in a body that `take` gives for its length. */
  finish(take: (length: number) => Buffer): Buffer {
    const length = this.#at - this.#output;
    const written = take(length);
    this.#memory.copy(written, 0, this.#output, this.#at);
    if (this.#memory.length <= maxIdleBytes) ListingKernel.#idle = this;
    return written.subarray(0, length);
  }

  #reserve(size: number): void {
    const missing = this.#at + size + slack - this.#memory.length;
    if (missing <= 0) return;
    this.#run.memory.grow(Math.ceil(missing / wasmPage));
    this.#memory = Buffer.from(this.#run.memory.buffer);
  }
}
