import { asBuffer, readStringMapEntry, readTimestamp, writeStringMap, writeTimestamp } from './fields.ts';
import { IdentityHasher } from './identity.ts';
import type { StringMap } from './string-map.ts';
import { emptyStringMap } from './string-map.ts';
import type { Timestamp } from './timestamp.ts';
import { zeroTimestamp } from './timestamp.ts';
import { WireError, WireReader, WireWriter } from './wire.ts';

export const addressByPrefix = 0;
export const addressRelative = 1;
export const addressFull = 2;
export type AddressType = typeof addressByPrefix | typeof addressRelative | typeof addressFull;

/** What is stored for one object key (`catalog.Entry`). */
export interface Entry {
  readonly address: string;
  readonly lastModified: Timestamp;
  readonly size: number;
  readonly etag: string;
  readonly metadata: StringMap;
  readonly addressType: AddressType;
  readonly contentType: string;
}

export function encodeEntry(entry: Entry): Buffer {
  const writer = new WireWriter();
  if (entry.address !== '') writer.string(1, entry.address);
  writeTimestamp(writer, 2, entry.lastModified);
  if (entry.size !== 0) writer.integer(3, entry.size);
  if (entry.etag !== '') writer.string(4, entry.etag);
  writeStringMap(writer, 5, entry.metadata);
  if (entry.addressType !== 0) writer.integer(6, entry.addressType);
  if (entry.contentType !== '') writer.string(7, entry.contentType);
  return writer.finish();
}

/**
 * Reads entries without decoding what nobody asks for: `load` only notes where the fields are. One view can be
 * reused for any number of entries and makes no garbage.
 */
export class EntryView implements Entry {
  #bytes: Buffer = noBytes;
  #end = 0;
  #at = 0;
  #addressStart = 0;
  #addressEnd = 0;
  #etagStart = 0;
  #etagEnd = 0;
  #typeStart = 0;
  #typeEnd = 0;
  #timeStart = 0;
  #timeEnd = 0;
  #metadataStart = -1;
  size = 0;
  addressType: AddressType = addressByPrefix;

  load(bytes: Buffer, start = 0, end = bytes.length): this {
    this.#bytes = bytes;
    this.#at = start;
    this.#end = end;
    this.#addressStart = this.#addressEnd = 0;
    this.#etagStart = this.#etagEnd = 0;
    this.#typeStart = this.#typeEnd = 0;
    this.#timeStart = this.#timeEnd = 0;
    this.#metadataStart = -1;
    this.size = 0;
    this.addressType = addressByPrefix;
    while (this.#at < end) this.#field();
    return this;
  }

  #field(): void {
    const start = this.#at;
    const tag = this.#varint();
    if (tag === 24) this.size = this.#varint();
    else if (tag === 48) this.addressType = this.#varint() as AddressType;
    else if ((tag & 7) === 2) this.#slice(tag, start);
    else this.#skip(tag & 7);
  }

  #slice(tag: number, fieldStart: number): void {
    const length = this.#varint();
    const start = this.#at;
    const end = start + length;
    if (length < 0 || end > this.#end) throw new WireError('record is cut short');
    this.#at = end;
    if (tag === 10) {
      this.#addressStart = start;
      this.#addressEnd = end;
    } else if (tag === 34) {
      this.#etagStart = start;
      this.#etagEnd = end;
    } else if (tag === 58) {
      this.#typeStart = start;
      this.#typeEnd = end;
    } else if (tag === 18) {
      this.#timeStart = start;
      this.#timeEnd = end;
    } else if (tag === 42 && this.#metadataStart < 0) this.#metadataStart = fieldStart;
  }

  /** Where a field's bytes lie in the loaded buffer, for writers that copy instead of decoding. */
  get addressStart(): number {
    return this.#addressStart;
  }

  get addressEnd(): number {
    return this.#addressEnd;
  }

  get etagStart(): number {
    return this.#etagStart;
  }

  get etagEnd(): number {
    return this.#etagEnd;
  }

  get contentTypeStart(): number {
    return this.#typeStart;
  }

  get contentTypeEnd(): number {
    return this.#typeEnd;
  }

  get address(): string {
    return this.#bytes.toString('utf8', this.#addressStart, this.#addressEnd);
  }

  get etag(): string {
    return this.#bytes.toString('utf8', this.#etagStart, this.#etagEnd);
  }

  get contentType(): string {
    return this.#bytes.toString('utf8', this.#typeStart, this.#typeEnd);
  }

  get lastModified(): Timestamp {
    let seconds = 0;
    let nanos = 0;
    this.#at = this.#timeStart;
    while (this.#at < this.#timeEnd) {
      const tag = this.#varint();
      if (tag === 8) seconds = this.#varint();
      else if (tag === 16) nanos = this.#varint();
      else this.#skip(tag & 7);
    }
    return { seconds, nanos };
  }

  /** Of `lastModified`. */
  get seconds(): number {
    this.#at = this.#timeStart;
    while (this.#at < this.#timeEnd) {
      const tag = this.#varint();
      if (tag === 8) return this.#varint();
      this.#skip(tag & 7);
    }
    return 0;
  }

  get hasMetadata(): boolean {
    return this.#metadataStart >= 0;
  }

  get metadata(): StringMap {
    if (this.#metadataStart < 0) return emptyStringMap;
    const map = Object.create(null) as Record<string, string>;
    const reader = new WireReader(this.#bytes, this.#metadataStart, this.#end);
    while (!reader.done) {
      const tag = reader.varint();
      if (tag === 42) readStringMapEntry(reader.bytes(), map);
      else reader.skip(tag & 7);
    }
    return map;
  }

  #varint(): number {
    const bytes = this.#bytes;
    let value = 0;
    let scale = 1;
    // Five bytes hold every size and time of today; longer ones take the general way.
    for (let at = this.#at; at < this.#end && at < this.#at + 5; at += 1) {
      const byte = bytes[at] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.#at = at + 1;
        return value;
      }
      scale *= 128;
    }
    const reader = new WireReader(bytes, this.#at, this.#end);
    const wide = reader.varint();
    this.#at = reader.position;
    return wide;
  }

  #skip(wireType: number): void {
    const reader = new WireReader(this.#bytes, this.#at, this.#end);
    reader.skip(wireType);
    this.#at = reader.position;
  }
}

const noBytes: Buffer = Buffer.alloc(0);

export function decodeEntry(bytes: Uint8Array): Entry {
  const reader = new WireReader(asBuffer(bytes));
  let address = '';
  let lastModified = zeroTimestamp;
  let size = 0;
  let etag = '';
  let metadata: Record<string, string> | undefined;
  let addressType: AddressType = addressByPrefix;
  let contentType = '';
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === 10) address = reader.string();
    else if (tag === 18) lastModified = readTimestamp(reader.bytes());
    else if (tag === 24) size = reader.integer();
    else if (tag === 34) etag = reader.string();
    else if (tag === 42) {
      metadata ??= Object.create(null) as Record<string, string>;
      readStringMapEntry(reader.bytes(), metadata);
    } else if (tag === 48) addressType = reader.integer() as AddressType;
    else if (tag === 58) contentType = reader.string();
    else reader.skip(tag & 7);
  }
  return {
    address,
    lastModified,
    size,
    etag,
    metadata: metadata ?? emptyStringMap,
    addressType,
    contentType,
  };
}

/** Used for one entry after the other: room of its own for each costs as much as the hash. */
const hasher = new IdentityHasher();

/** Decides "same object": address, time and key are not part of it. */
export function entryIdentity(entry: Pick<Entry, 'size' | 'etag' | 'metadata' | 'contentType'>): Buffer {
  hasher.restart();
  hasher.integer(entry.size);
  hasher.string(entry.etag);
  hasher.map(entry.metadata);
  if (entry.contentType !== '') hasher.string(entry.contentType);
  return hasher.digest();
}
