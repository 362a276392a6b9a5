/** A page as the service sends it, newest first; a cursor is absent at that end of the list. */
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

/** Await it for one page; iterate it for every item from there on; iterate `pages()` for every page. */
export type Pages<Item> = Promise<Page<Item>> & AsyncIterable<Item> & { pages(): AsyncIterable<Page<Item>> };

/** The first page is asked for at once, the next ones as the caller comes to them. */
export function listPages<Item, Query extends PageQuery>(
  query: Query,
  ask: (query: Query) => Promise<Page<Item>>,
): Pages<Item> {
  const first = ask(query);
  async function* pages() {
    let page = await first;
    yield page;
    while (page.starting_after !== undefined) {
      const { starting_before: _, ...rest } = query;
      page = await ask({ ...rest, starting_after: page.starting_after } as Query);
      yield page;
    }
  }
  async function* items() {
    for await (const page of pages()) yield* page.data;
  }
  return Object.assign(first, { pages, [Symbol.asyncIterator]: items });
}
