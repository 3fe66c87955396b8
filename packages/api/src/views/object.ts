import { userMetadata, type DiffItem, type DiffPage, type ObjectEntry } from '@svc/engine';
import { paginationView } from './page.ts';

export const defaultContentType = 'application/octet-stream';

interface ObjectViewOptions {
  /** The answer to an upload shows an empty content type as it is stored. */
  readonly storedContentType?: boolean;
  /** `none` leaves the field out, `empty` shows `{}` whatever is stored. */
  readonly metadata?: 'none' | 'empty';
}

export function objectView(entry: ObjectEntry, options: ObjectViewOptions = {}) {
  const { presigned } = entry;
  return {
    path: entry.path,
    path_type: 'object' as const,
    physical_address: presigned?.url ?? entry.physicalAddress,
    physical_address_expiry:
      presigned === undefined ? undefined : Math.floor(presigned.expiry.getTime() / 1000),
    checksum: entry.etag,
    size_bytes: entry.size,
    mtime: entry.mtime.seconds,
    metadata:
      options.metadata === 'none'
        ? undefined
        : options.metadata === 'empty'
          ? {}
          : userMetadata(entry.metadata),
    content_type:
      entry.contentType === '' && options.storedContentType !== true ? defaultContentType : entry.contentType,
  };
}

export function diffPageView(page: DiffPage, withRightStats = false) {
  return {
    pagination: paginationView(page.hasMore, page.nextOffset, page.items.length),
    results: page.items.map((item) => diffView(item, withRightStats)),
  };
}

function diffView(item: DiffItem, withRightStats: boolean) {
  const { stats } = item;
  return {
    type: item.type,
    path: item.path,
    path_type: item.kind,
    size_bytes: item.kind === 'object' ? (item.size ?? 0) : undefined,
    right:
      withRightStats && item.kind === 'object' && stats !== undefined
        ? {
            checksum: stats.etag,
            mtime: stats.mtime.seconds,
            content_type: stats.contentType === '' ? defaultContentType : stats.contentType,
            metadata: userMetadata(stats.metadata),
          }
        : undefined,
  };
}
