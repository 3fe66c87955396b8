import { decodeEntry, prefixSuccessor, startsWithBytes } from '@svc/encoding';
import type { DiffIterator } from '../committed/tree.ts';
import { pageSize } from '../context/page.ts';
import type { DiffItem, DiffPage, DiffPageRequest } from '../face/refs.ts';
import { foldEnd, planWalk, type Walk } from '../listing/key-range.ts';

/** What to walk, from the request's prefix, offset and delimiter. */
export function planDiff(request: DiffPageRequest): Walk {
  const delimiter =
    request.delimiter === undefined || request.delimiter === '' ? undefined : Buffer.from(request.delimiter);
  return planWalk(Buffer.from(request.prefix ?? ''), Buffer.from(request.after ?? ''), delimiter);
}

/** Takes one page from differences positioned at the walk's start; closes them. */
export async function collectDiff(
  differences: DiffIterator,
  walk: Walk,
  request: DiffPageRequest,
  options: { readonly removedHasNoSize?: boolean } = {},
): Promise<DiffPage> {
  const size = pageSize(request.amount);
  const items: DiffItem[] = [];
  try {
    for (;;) {
      const more = differences.next();
      if (!(typeof more === 'boolean' ? more : await more)) break;
      const { key } = differences;
      if (!startsWithBytes(key, walk.prefix)) break;
      if (items.length === size) return { items, hasMore: true, nextOffset: items.at(-1)?.path ?? '' };
      const end = foldEnd(key, walk);
      if (end < 0) {
        items.push(toItem(differences, options.removedHasNoSize === true));
        continue;
      }
      const commonPrefix = Buffer.from(key.subarray(0, end));
      items.push({
        type: 'prefix_changed',
        kind: 'common_prefix',
        path: commonPrefix.toString(),
        size: undefined,
        stats: undefined,
      });
      const next = prefixSuccessor(commonPrefix);
      if (next === undefined) break;
      differences.seek(next);
    }
    return { items, hasMore: false, nextOffset: '' };
  } finally {
    differences.close();
  }
}

function toItem(differences: DiffIterator, removedHasNoSize: boolean): DiffItem {
  const { type } = differences;
  const entry = decodeEntry(differences.data);
  return {
    type,
    kind: 'object',
    path: differences.key.toString(),
    size: type === 'removed' && removedHasNoSize ? 0 : entry.size,
    stats: {
      etag: entry.etag,
      mtime: entry.lastModified,
      contentType: entry.contentType,
      metadata: entry.metadata,
    },
  };
}
