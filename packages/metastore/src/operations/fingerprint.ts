import { hash } from 'node:crypto';
import type { Column, Parameters, Partition } from '../model.ts';

/** Metastores write these themselves. */
const ownParameters = new Set(['transient_lastDdlTime', 'numFiles', 'totalSize']);

/** Equal for partitions that need no change; `apart from location` for those that only lie elsewhere. */
export function fingerprint(partition: Partition, what: 'whole' | 'apart from location'): string {
  const { storage } = partition;
  const whole = what === 'whole';
  const serdeParameters = Object.entries(storage?.serde?.parameters ?? {}).filter(
    ([name]) => whole || name !== 'path',
  );
  return hash(
    'sha256',
    JSON.stringify([
      partition.lastAccessTime,
      whole ? [storage?.location ?? '', storage?.additionalLocations ?? []] : [],
      (storage?.columns ?? []).map((column) => columnParts(column)),
      storage?.inputFormat ?? '',
      storage?.outputFormat ?? '',
      storage?.serde?.library ?? '',
      serdeParameters.toSorted(byName),
      parametersOf(partition.parameters),
    ]),
    'base64',
  );
}

export function sameColumn(left: Column, right: Column): boolean {
  return columnParts(left).join('\0') === columnParts(right).join('\0');
}

function columnParts({ name, type, comment }: Column): string[] {
  return [name, type, comment ?? ''];
}

function parametersOf(parameters: Parameters): [string, string][] {
  return Object.entries(parameters)
    .filter(([name]) => !ownParameters.has(name))
    .toSorted(byName);
}

function byName([left]: readonly [string, string], [right]: readonly [string, string]): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
