import type { KvStore } from '@svc/kv';

/** For answers about what is not there. */
export const absent: Promise<undefined> = Promise.resolve(undefined);

/**
 * Whether a record is known to be absent without waiting; false when the store cannot tell at once. Names of refs to be
 * created are free as a rule, and seeing that at once costs less than sharing a read of it.
 */
export function isAbsentAtOnce(kv: KvStore, partition: Uint8Array, key: Uint8Array): boolean {
  return kv.valueAtOnce !== undefined && kv.valueAtOnce(partition, key) === undefined;
}
