import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

const prefixes: readonly (readonly [header: string, key: string])[] = [
  ['x-lakefs-meta-', ''],
  ['x-svc-meta-', ''],
  ['x-lakefs-internal-', '::lakefs::'],
];

/** User metadata given as request headers. */
export function headerMetadata(request: IncomingMessage): Record<string, string> {
  const metadata = Object.create(null) as Record<string, string>;
  for (const name in request.headers) {
    if (!name.startsWith('x-')) continue;
    for (const [header, key] of prefixes) {
      const value = request.headers[name];
      if (name.startsWith(header) && name.length > header.length && value !== undefined) {
        metadata[key + name.slice(header.length)] = decoded(Array.isArray(value) ? value.join(', ') : value);
      }
    }
  }
  return metadata;
}

/** Header bytes reach us as Latin-1; clients send UTF-8. */
function decoded(value: string): string {
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}
