/**
 * One page of a list, newest first unless the call says otherwise. `starting_after` leads to the next page and is
 * absent on the last one. `starting_before` leads to the previous page and is absent on the first one.
 */
export type Page<Item> = {
  object: 'list';
  data: Item[];
  starting_after?: string | undefined;
  starting_before?: string | undefined;
};

export type PageQuery = {
  limit?: number | undefined;
  starting_after?: string | undefined;
  starting_before?: string | undefined;
};

/**
 * A list. Await it for one page, iterate it for all items from that page on, or iterate `pages()` page by
 * page.
 */
export type Pages<Item> = Promise<Page<Item>> & AsyncIterable<Item> & { pages(): AsyncIterable<Page<Item>> };

/** Requests the first page immediately, and each later page when the caller reaches it. */
export function listPages<Item, Query extends PageQuery>(
  query: Query,
  fetchPage: (query: Query) => Promise<Page<Item>>,
): Pages<Item> {
  const first = fetchPage(query);
  async function* pages() {
    let page = await first;
    yield page;
    while (page.starting_after !== undefined) {
      const { starting_before: _, ...rest } = query;
      page = await fetchPage({ ...rest, starting_after: page.starting_after } as Query);
      yield page;
    }
  }
  async function* items() {
    for await (const page of pages()) yield* page.data;
  }
  return Object.assign(first, { pages, [Symbol.asyncIterator]: items });
}
