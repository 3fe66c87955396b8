import { VarintReader, writeUvarint } from '@svc/encoding';
import { CorruptTableError } from './corrupt-table-error.ts';

export const footerLength = 53;
export const blockTrailerLength = 5;
export const internalTrailerLength = 8;

export const targetBlockSize = 4096;
/** 90 % of the target, rounded as the reference writer does. */
export const blockSizeThreshold = 3687;
export const dataRestartInterval = 16;

export const compressionNone = 0;
export const compressionSnappy = 1;

/** Sequence number 0, kind SET. */
export const recordTrailer = Buffer.from('0100000000000000', 'hex');
/** The greatest sequence number, kind "separator". */
export const separatorTrailer = Buffer.from('11ffffffffffffff', 'hex');
/** What the index of an empty table points with: an empty user key of the greatest kind. */
export const emptyTableIndexKey = Buffer.from('ff00000000000000', 'hex');

export const indexTypeProperty = 'rocksdb.block.based.table.index.type';
export const propertiesName = 'rocksdb.properties';

const magic = Buffer.from('f7cff485b741e288', 'hex');
const checksumCrc32c = 1;
const versionOffset = 41;

/** Where a block's stored bytes lie; the five bytes of trailer follow them. */
export interface BlockHandle {
  readonly offset: number;
  readonly length: number;
}

function encodeHandle(handle: BlockHandle): Buffer {
  const bytes = Buffer.allocUnsafe(20);
  const middle = writeUvarint(bytes, 0, handle.offset);
  return bytes.subarray(0, writeUvarint(bytes, middle, handle.length));
}

/** Reads a handle of a table whose blocks end at `limit`. */
export function readHandle(reader: VarintReader, limit: number): BlockHandle {
  const offset = reader.uvarint();
  const length = reader.uvarint();
  // A NaN fails this comparison too.
  if (!(offset + length + blockTrailerLength <= limit)) {
    throw new CorruptTableError('a block lies outside the file');
  }
  return { offset, length };
}

export function encodeFooter(metaindex: BlockHandle, index: BlockHandle): Buffer {
  const footer = Buffer.alloc(footerLength);
  footer[0] = checksumCrc32c;
  Buffer.concat([encodeHandle(metaindex), encodeHandle(index)]).copy(footer, 1);
  footer.writeUInt32LE(2, versionOffset);
  magic.copy(footer, footerLength - magic.length);
  return footer;
}

export function decodeFooter(
  footer: Buffer,
  fileSize: number,
): { metaindex: BlockHandle; index: BlockHandle } {
  if (!footer.subarray(footerLength - magic.length).equals(magic)) {
    throw new CorruptTableError('the magic number at the end is missing; this is not a table or it was cut');
  }
  const version = footer.readUInt32LE(versionOffset);
  if (version !== 2) throw new CorruptTableError(`format version ${version} is not 2`);
  if (footer[0] !== checksumCrc32c) throw new CorruptTableError(`checksum type ${footer[0]} is not CRC-32C`);
  const reader = new VarintReader(footer, 1, versionOffset);
  const limit = fileSize - footerLength;
  const metaindex = readHandle(reader, limit);
  return { metaindex, index: readHandle(reader, limit) };
}
