import { parseXid } from '@svc/encoding';

const xid = '[0-9a-v]{19}[0g]';
const dataKey = new RegExp(`^data/(${xid})/(${xid})(,[A-Za-z0-9_-]{43})?$`);
const tableKey = /^[0-9a-f]{64}$/;
/** Names of partitions count time down from here. */
const partitionBase = 64_060_588_800 % 0x1_0000_0000;

export interface DataName {
  readonly partition: string;
  readonly name: string;
  /** Milliseconds since 1970 at which the name was made. */
  readonly madeAt: number;
}

/** Undefined unless the whole key is one that we give to data. */
export function parseDataKey(key: string): DataName | undefined {
  const match = dataKey.exec(key);
  const [, partition = '', name = ''] = match ?? [];
  const seconds = match === null ? undefined : parseXid(name)?.readUInt32BE(0);
  return seconds === undefined ? undefined : { partition, name, madeAt: seconds * 1000 };
}

export function isPartitionName(name: string): boolean {
  return new RegExp(`^${xid}$`).test(name);
}

/** Milliseconds since 1970 at which a partition was begun. */
export function partitionBegun(partition: string): number | undefined {
  const field = parseXid(partition)?.readUInt32BE(0);
  if (field === undefined) return undefined;
  return ((partitionBase - field + 0x1_0000_0000) % 0x1_0000_0000) * 1000;
}

export function isTableKey(name: string): boolean {
  return tableKey.test(name);
}
