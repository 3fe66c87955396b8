import { asBuffer } from './fields.ts';
import { WireReader, WireWriter } from './wire.ts';

/** A staged change. An empty identity is a tombstone: the key was deleted. */
export interface StagedEntryData {
  readonly key: Buffer;
  readonly identity: Buffer;
  readonly data: Buffer;
}

const noBytes: Buffer = Buffer.alloc(0);

export function encodeStagedEntry(key: Uint8Array, identity: Uint8Array, data: Uint8Array): Buffer {
  const writer = new WireWriter(key.length + identity.length + data.length + 16);
  if (key.length > 0) writer.bytes(1, key);
  if (identity.length > 0) writer.bytes(2, identity);
  if (data.length > 0) writer.bytes(3, data);
  return writer.finish();
}

export function encodeTombstone(key: Uint8Array): Buffer {
  return encodeStagedEntry(key, noBytes, noBytes);
}

/** Fields are views of `bytes`. */
export function decodeStagedEntry(bytes: Uint8Array): StagedEntryData {
  const reader = new WireReader(asBuffer(bytes));
  let key = noBytes;
  let identity = noBytes;
  let data = noBytes;
  while (!reader.done) {
    const tag = reader.varint();
    if (tag === 10) key = reader.bytes();
    else if (tag === 18) identity = reader.bytes();
    else if (tag === 26) data = reader.bytes();
    else reader.skip(tag & 7);
  }
  return { key, identity, data };
}
