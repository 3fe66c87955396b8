import { timestampToMillis, type Timestamp } from '@svc/encoding';
import type { ObjectEntry } from '@svc/engine';
import { addMetadataHeaders, defaultContentType, safeHeaderValue } from '../metadata/object-metadata.ts';

export function quotedEtag(etag: string): string {
  return etag.startsWith('"') ? etag : `"${etag}"`;
}

/** `YYYY-MM-DDTHH:MM:SS.mmmZ` */
export function xmlTime(time: Timestamp): string {
  return new Date(timestampToMillis(time)).toISOString();
}

export function httpTime(time: Timestamp): string {
  return new Date(time.seconds * 1000).toUTCString();
}

/** The headers HEAD and GET answer for an object. */
export function entryHeaders(entry: ObjectEntry): Record<string, string> {
  const headers: Record<string, string> = {
    ETag: safeHeaderValue(quotedEtag(entry.etag)),
    'Last-Modified': httpTime(entry.mtime),
    'Content-Type': entry.contentType === '' ? defaultContentType : safeHeaderValue(entry.contentType),
    'Accept-Ranges': 'bytes',
  };
  addMetadataHeaders(entry.metadata, headers);
  return headers;
}
