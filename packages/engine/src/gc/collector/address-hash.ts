const nameBytes = 20;
const slash = 0x2f;
const comma = 0x2c;
/** A comma and what signs a name. */
const signatureBytes = 44;

/**
 * The mark of an address, 64 bits as two numbers. The first byte comes from the partition alone, so that one partition
 * lies in one shard; the last bit is free.
 */
export class AddressHash {
  high = 0;
  low = 0;

  /** False when the address does not end in `<partition>/<name>` as ours do. */
  read(bytes: Uint8Array, start: number, end: number): boolean {
    const nameEnd = bytes[end - nameBytes - 1] === slash ? end : unsigned(bytes, start, end);
    const nameStart = nameEnd - nameBytes;
    const partitionStart = nameStart - 1 - nameBytes;
    if (partitionStart < start || bytes[nameStart - 1] !== slash) return false;
    if (partitionStart > start && bytes[partitionStart - 1] !== slash) return false;
    this.high = 0x811c_9dc5;
    this.low = 0x9e37_79b9;
    this.#mix(bytes, partitionStart);
    const shard = finish(this.high ^ (this.low >>> 7)) >>> 24;
    this.#mix(bytes, nameStart);
    this.low = (finish(this.low ^ (this.high >>> 5)) & 0xffff_fffe) >>> 0;
    this.high = ((shard << 24) | (finish(this.high) >>> 8)) >>> 0;
    // All zeros stand for an empty place.
    if (this.high === 0 && this.low === 0) this.low = 2;
    return true;
  }

  #mix(bytes: Uint8Array, start: number): void {
    let a = this.high;
    let b = this.low;
    for (let at = start; at < start + nameBytes; at += 4) {
      const word =
        (bytes[at] as number) |
        ((bytes[at + 1] as number) << 8) |
        ((bytes[at + 2] as number) << 16) |
        ((bytes[at + 3] as number) << 24);
      a = Math.imul(a ^ word, 0xcc9e_2d51);
      a = Math.imul(a ^ (a >>> 15), 0x1b87_3593);
      b = Math.imul(b + word, 0x85eb_ca6b);
      b = Math.imul(b ^ (b >>> 13), 0xc2b2_ae35);
    }
    this.high = a;
    this.low = b;
  }
}

/** Where the name ends: a signature is not part of it. */
function unsigned(bytes: Uint8Array, start: number, end: number): number {
  for (let at = end - 1; at >= start && at >= end - signatureBytes; at -= 1)
    if (bytes[at] === comma) return at;
  return end;
}

function finish(value: number): number {
  let mixed = value;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** In which shard the names of a partition are. */
export function shardOf(partition: string): number {
  const hash = new AddressHash();
  const bytes = Buffer.from(`${partition}/${'0'.repeat(nameBytes)}`);
  hash.read(bytes, 0, bytes.length);
  return hash.high >>> 24;
}
