import type { ObjectEntry } from '@svc/engine';
import { defaultContentType } from '../views/object.ts';

/** Types a browser may show in place; everything else is offered as a download. */
const inlineTypes: ReadonlySet<string> = new Set([
  'image/jpeg',
  'image/jpg',
  'image/png',
  'image/gif',
  'image/webp',
  'image/svg+xml',
  'application/pdf',
  'application/json',
  'text/plain',
  'text/markdown',
  'text/x-markdown',
  'video/mp4',
  'video/webm',
  'audio/mpeg',
  'audio/wav',
  'audio/webm',
]);

const printable = /^[\u0020-\u007E\u00A0-\u00FF]+$/;

export function etagOf(entry: ObjectEntry): string {
  // A linked object's checksum is the client's text: escape what a header must not contain.
  return `"${printable.test(entry.etag) ? entry.etag : encodeURIComponent(entry.etag)}"`;
}

/** Headers of `GET` and `HEAD` of an object. */
export function objectHeaders(entry: ObjectEntry): Record<string, string> {
  return {
    etag: etagOf(entry),
    'last-modified': new Date(entry.mtime.seconds * 1000).toUTCString(),
    'content-type': headerContentType(entry),
    'accept-ranges': 'bytes',
    'cache-control': 'no-store, must-revalidate',
    expires: '0',
  };
}

/** Headers that keep a browser from running stored content. */
export function browserSafety(entry: ObjectEntry): Record<string, string> {
  const type = headerContentType(entry);
  return {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'SAMEORIGIN',
    // The sandbox would stop the browser's own viewer of PDF files.
    'content-security-policy':
      type === 'application/pdf' ? "default-src 'none'" : "default-src 'none'; sandbox",
    'content-disposition': inlineTypes.has(type) ? 'inline' : 'attachment',
  };
}

function headerContentType({ contentType }: ObjectEntry): string {
  return contentType !== '' && printable.test(contentType) ? contentType : defaultContentType;
}
