/** A page, in the form every list of the API returns. */
export interface ListPage<Item> {
  readonly pagination: { readonly has_more: boolean; readonly next_offset: string };
  readonly results: readonly Item[];
}

/**
 * Walks a list to its end, page by page.
 *
 * `for await (const branch of listAll((after) => client.get('/repositories/{repository}/branches', …)))`
 */
export async function* listAll<Item>(
  fetchPage: (after: string) => Promise<ListPage<Item>>,
  after = '',
): AsyncGenerator<Item, void, undefined> {
  for (let offset = after; ;) {
    const { pagination, results } = await fetchPage(offset);
    yield* results;
    if (!pagination.has_more) return;
    offset = pagination.next_offset;
  }
}
