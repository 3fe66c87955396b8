import type { ObjectPage, PageJson } from '@svc/engine';
import { paginationView } from './page.ts';

/** The answer to a listing of objects. The page writes its items itself: see `listing/page-json.ts` of the engine. */
export function objectListJson(
  page: ObjectPage,
  withMetadata: boolean,
  mayRead: ((path: string) => boolean) | undefined,
): PageJson {
  const pagination = JSON.stringify(paginationView(page.hasMore, page.nextOffset, page.count));
  return page.json({ before: `{"pagination":${pagination},"results":`, after: '}', withMetadata, mayRead });
}
