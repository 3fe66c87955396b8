import type { Page } from '@svc/auth';
import { paginationView } from './page.ts';
import type { PaginationView } from './page.ts';

/** A page of access control. */
export function authPageView<Item, View>(
  page: Page<Item>,
  view: (item: Item) => View,
): { readonly pagination: PaginationView; readonly results: readonly View[] } {
  return {
    pagination: paginationView(page.hasMore, page.nextOffset, page.results.length),
    results: page.results.map(view),
  };
}
