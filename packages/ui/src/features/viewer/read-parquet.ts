import { parquetMetadataAsync, parquetReadObjects, parquetSchema } from 'hyparquet';
import type { FileMetaData, SchemaTree } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import type { GridColumn } from '../../kit/data-grid.tsx';
import { cellText } from '../../kit/data-grid.tsx';
import { client } from '../../lib/api.ts';

interface Place {
  readonly repository: string;
  readonly ref: string;
  readonly path: string;
}

export interface ParquetPreviewData {
  readonly columns: readonly GridColumn[];
  readonly rows: readonly (readonly unknown[])[];
  readonly rowCount: number;
  readonly rowGroups: number;
  readonly codecs: readonly string[];
}

function typeOf({ element, children }: SchemaTree): string {
  const type = element.logical_type?.type ?? element.converted_type ?? element.type;
  const name = type ?? (children.length > 0 ? 'struct' : '');
  return `${name.toLowerCase()}${element.repetition_type === 'OPTIONAL' ? '?' : ''}`;
}

/** Nulls and bounds of a column over all row groups, where the file tells them. */
function noteOf(metadata: FileMetaData, name: string): string | undefined {
  let nulls = 0n;
  let low: unknown;
  let high: unknown;
  let known = false;
  for (const group of metadata.row_groups) {
    for (const { meta_data: column } of group.columns) {
      if (column === undefined || column.path_in_schema.length !== 1 || column.path_in_schema[0] !== name)
        continue;
      const statistics = column.statistics;
      if (statistics === undefined) return undefined;
      nulls += BigInt(statistics.null_count ?? 0);
      const min = statistics.min_value ?? statistics.min;
      const max = statistics.max_value ?? statistics.max;
      if (min === undefined || max === undefined || min === null || max === null) continue;
      if (!known || min < (low as typeof min)) low = min;
      if (!known || max > (high as typeof max)) high = max;
      known = true;
    }
  }
  const short = (value: unknown): string => {
    const text = cellText(value);
    return text.length > 14 ? `${text.slice(0, 13)}…` : text;
  };
  const bounds = known ? `${short(low)} … ${short(high)}` : undefined;
  return (
    [bounds, nulls > 0n ? `${String(nulls)} null` : undefined]
      .filter((part) => part !== undefined)
      .join(' · ') || undefined
  );
}

/** Schema, statistics and the first rows; reads the footer, then only the pages it needs. */
export async function readParquet(
  place: Place,
  byteLength: number,
  limit: number,
): Promise<ParquetPreviewData> {
  const file = {
    byteLength,
    async slice(start: number, end = byteLength): Promise<ArrayBuffer> {
      const { body } = await client.objects.download({ ...place, range: { start, end: end - 1 } });
      return await new Response(body).arrayBuffer();
    },
  };
  const metadata = await parquetMetadataAsync(file);
  const { children } = parquetSchema(metadata);
  const rowCount = Number(metadata.num_rows);
  const objects = await parquetReadObjects({
    file,
    metadata,
    compressors,
    rowStart: 0,
    rowEnd: Math.min(limit, rowCount),
  });
  const codecs = new Set<string>();
  for (const group of metadata.row_groups) {
    for (const column of group.columns)
      if (column.meta_data !== undefined) codecs.add(column.meta_data.codec);
  }
  const names = children.map(({ element }) => element.name);
  return {
    columns: children.map((child) => ({
      name: child.element.name,
      type: typeOf(child),
      note: noteOf(metadata, child.element.name),
    })),
    rows: objects.map((row) => names.map((name) => row[name] as unknown)),
    rowCount,
    rowGroups: metadata.row_groups.length,
    codecs: [...codecs],
  };
}
