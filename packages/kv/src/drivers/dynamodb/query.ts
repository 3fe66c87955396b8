import { isPossible, binary, type Binary, type Item } from './items.ts';

/** Keys from `lower` to `upper` as one condition on the sort key. `keep` drops what it lets through besides. */
export interface KeyRange {
  readonly expression: string;
  readonly values: Readonly<Record<string, Binary>>;
  keep(key: Buffer): boolean;
}

const maxBound = 1024;

/** Undefined when there can be nothing in the range. */
export function keyRange(partition: Buffer, lower: Buffer, upper: Buffer | undefined): KeyRange | undefined {
  if (!isPossible(partition, Buffer.alloc(0))) return undefined;
  if (upper !== undefined && Buffer.compare(lower, upper) >= 0) return undefined;
  // No key is longer than this, so a longer bound lies just behind its beginning.
  const from = lower.subarray(0, maxBound);
  const to = upper?.subarray(0, maxBound);
  const base = { ':p': binary(partition) };
  const keep = (key: Buffer): boolean =>
    Buffer.compare(key, lower) >= 0 && (upper === undefined || Buffer.compare(key, upper) < 0);
  // A key of a condition must not be empty.
  if (to !== undefined && from.length === 0) {
    const values = { ...base, ':to': binary(to) };
    return { expression: 'PartitionKey = :p AND ItemKey <= :to', values, keep };
  }
  if (to !== undefined) {
    const values = { ...base, ':from': binary(from), ':to': binary(to) };
    return { expression: 'PartitionKey = :p AND ItemKey BETWEEN :from AND :to', values, keep };
  }
  if (from.length === 0) return { expression: 'PartitionKey = :p', values: base, keep };
  const values = { ...base, ':from': binary(from) };
  return { expression: 'PartitionKey = :p AND ItemKey >= :from', values, keep };
}

export interface QueryOutput {
  readonly Items: Item[];
  readonly LastEvaluatedKey?: object;
}
