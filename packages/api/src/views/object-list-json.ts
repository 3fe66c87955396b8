import type { ObjectPage } from '@svc/engine';
import { defaultContentType } from './object.ts';

/**
 * The JSON of a page of objects, written field by field: a page of a thousand entries is the hottest answer of
 * the API, and an object per entry costs more than its text.
 */
export function objectListJson(
  page: ObjectPage,
  withMetadata: boolean,
  mayRead: ((path: string) => boolean) | undefined,
): string {
  let json = '';
  page.visit((item) => {
    const { path } = item;
    if (json !== '') json += ',';
    if (item.kind === 'common_prefix') {
      json += `{"path":${JSON.stringify(path)},"path_type":"common_prefix","physical_address":"","checksum":"","mtime":0}`;
      return;
    }
    json += `{"path":${JSON.stringify(path)},"path_type":"object","physical_address":`;
    const presigned = mayRead !== undefined && mayRead(path) ? item.presigned : undefined;
    if (presigned === undefined) json += JSON.stringify(item.physicalAddress);
    else {
      const expiry = Math.floor(presigned.expiry.getTime() / 1000);
      json += `${JSON.stringify(presigned.url)},"physical_address_expiry":${expiry}`;
    }
    const contentType = item.contentType;
    json += `,"checksum":${JSON.stringify(item.etag)},"size_bytes":${item.size},"mtime":${item.mtime.seconds},"content_type":${JSON.stringify(contentType === '' ? defaultContentType : contentType)}`;
    if (withMetadata) {
      const { metadata } = item;
      for (const _key in metadata) {
        json += `,"metadata":${JSON.stringify(metadata)}`;
        break;
      }
    }
    json += '}';
  });
  const nextOffset = page.hasMore ? JSON.stringify(page.nextOffset) : '""';
  return `{"pagination":{"has_more":${page.hasMore},"next_offset":${nextOffset},"results":${page.count},"max_per_page":1000},"results":[${json}]}`;
}
