import { promisify } from 'node:util';
import { constants, zstdCompress, zstdDecompress } from 'node:zlib';
import { packEntry, unpackEntry, type AuditEntry } from './audit-entry.ts';

/** Where the audit log lives in the key-value store. */
export const auditPartition: Buffer = Buffer.from('audit');
export const segmentsPrefix: Buffer = Buffer.from('log/');

/** What lies between the oldest and the newest entry of a segment, at most. */
export const maxSpanMs = 60_000;
/** A segment that is this large is not added to: it is written again with every addition. */
export const maxSegmentBytes = 64 * 1024;
/** A damaged segment must not unpack into any amount of memory. */
const maxUnpackedBytes = 64 * 1024 * 1024;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/** Keys rise while times fall, so that a scan meets the newest first. */
const lastTime = 0xffff_ffff_ffff;

/** Key of the segment that begins at `oldest`; the writer's id and a number tell those of one moment apart. */
export function segmentKey(oldest: number, writer: Buffer, number: number): Buffer {
  const tail = Buffer.alloc(4);
  tail.writeUInt32BE(number);
  return Buffer.concat([segmentsFrom(oldest), writer, tail]);
}

/** No segment that begins at `time` or earlier has a smaller key. */
export function segmentsFrom(time: number): Buffer {
  const bytes = Buffer.alloc(6);
  bytes.writeUIntBE(lastTime - Math.min(Math.max(0, time), lastTime), 0, 6);
  return Buffer.concat([segmentsPrefix, bytes]);
}

export function oldestOf(key: Buffer): number {
  return lastTime - key.readUIntBE(segmentsPrefix.length, 6);
}

/** Entries made ready to be added to a segment. */
export async function encodeEntries(entries: readonly AuditEntry[]): Promise<Buffer> {
  const packed = await compress(entries.map(packEntry).join('\n'), {
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  });
  const length = Buffer.alloc(4);
  length.writeUInt32BE(packed.length);
  return Buffer.concat([length, packed]);
}

/** The entries of a segment, in the order they were made. */
export async function decodeSegment(value: Buffer): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for (let at = 0; at < value.length;) {
    const end = at + 4 + value.readUInt32BE(at);
    const text = await decompress(value.subarray(at + 4, end), { maxOutputLength: maxUnpackedBytes });
    for (const line of text.toString().split('\n')) entries.push(unpackEntry(line));
    at = end;
  }
  return entries;
}
