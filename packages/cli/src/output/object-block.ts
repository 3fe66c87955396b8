import type { ObjectStats } from '@svc/client';
import { formatDate, humanSize } from './format.ts';
import type { Output } from './output.ts';

/** The lines that describe one object. */
export function printObject(out: Output, stats: ObjectStats): void {
  if (out.json) {
    out.document(stats);
    return;
  }
  out.line(`Path: ${out.paint(stats.path, 'yellow')}`);
  out.line(`Modified Time: ${formatDate(stats.mtime)}`);
  out.line(`Size: ${stats.size_bytes ?? 0} bytes`);
  out.line(`Human Size: ${humanSize(stats.size_bytes ?? 0)}`);
  out.line(`Physical Address: ${stats.physical_address}`);
  if (stats.physical_address_expiry !== undefined && stats.physical_address_expiry !== 0) {
    out.line(`Physical Address Expires: ${formatDate(stats.physical_address_expiry)}`);
  }
  out.line(`Checksum: ${stats.checksum}`);
  out.line(`Content-Type: ${stats.content_type ?? ''}`);
  const metadata = Object.entries(stats.metadata ?? {});
  if (metadata.length === 0) return;
  out.line('Metadata:');
  out.line('\t');
  for (const [key, value] of metadata) out.line(`\t${key.padEnd(18)} = ${value}`);
}
