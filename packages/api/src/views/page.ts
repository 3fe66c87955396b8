/** A page as the engine or access control hands it out. */
export interface SourcePage<Item> {
  readonly items: readonly Item[];
  readonly hasMore: boolean;
  readonly nextOffset: string;
}

export interface PaginationView {
  readonly has_more: boolean;
  readonly next_offset: string;
  readonly results: number;
  readonly max_per_page: number;
}

export function paginationView(hasMore: boolean, nextOffset: string, results: number): PaginationView {
  return { has_more: hasMore, next_offset: hasMore ? nextOffset : '', results, max_per_page: 1000 };
}

export function pageView<Item, View>(
  page: SourcePage<Item>,
  view: (item: Item) => View,
): { readonly pagination: PaginationView; readonly results: readonly View[] } {
  return {
    pagination: paginationView(page.hasMore, page.nextOffset, page.items.length),
    results: page.items.map(view),
  };
}
