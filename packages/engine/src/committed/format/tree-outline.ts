import { MemorySource, TableReader } from '@svc/sstable';
import { readMetaRange } from './meta-range.ts';
import type { RangeSpan, TreeOutline } from '../tree.ts';

/** What kind of dump a table, range or metarange, belongs to. */
export function entityOf(table: Uint8Array): string | undefined {
  return new TableReader(new MemorySource(table)).properties().get('entity')?.toString();
}

/** Undefined when the table is a range. */
export function readOutline(table: Uint8Array): TreeOutline | undefined {
  const reader = new TableReader(new MemorySource(table));
  const properties = reader.properties();
  if (properties.get('type')?.toString() === 'ranges') return undefined;
  const meta = readMetaRange(reader.scan());
  const ranges: RangeSpan[] = [];
  for (let range = 0; range < meta.count; range++) {
    ranges.push({ id: meta.id(range), minKey: meta.minKey(range), maxKey: meta.maxKey(range) });
  }
  return { entity: properties.get('entity')?.toString(), ranges };
}
