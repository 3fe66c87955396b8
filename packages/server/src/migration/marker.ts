import type { KvStore } from '@svc/kv';

/** Lies in a store that is being filled from another one; no server starts on it. */
export interface MigrationMarker {
  /** What it is filled from. */
  readonly from: string;
  /** The partition that is being copied, as base64; those before it are there. */
  readonly partition: string;
  /** The last key of it that was written, as base64. */
  readonly key: string;
}

const partition = Buffer.from('kv-internal-metadata');
const key = Buffer.from('svc/migration');

export async function readMarker(kv: KvStore): Promise<MigrationMarker | undefined> {
  const found = await kv.get(partition, key);
  return found === undefined ? undefined : (JSON.parse(found.value.toString()) as MigrationMarker);
}

export function writeMarker(kv: KvStore, marker: MigrationMarker): Promise<void> {
  return kv.set(partition, key, Buffer.from(JSON.stringify(marker)));
}

export function removeMarker(kv: KvStore): Promise<void> {
  return kv.delete(partition, key);
}

export function isMarker(inPartition: Buffer, itsKey: Buffer): boolean {
  return inPartition.equals(partition) && itsKey.equals(key);
}
