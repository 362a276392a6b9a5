import { createEventStream, type EventStreamOptions } from './event-stream.ts';
import { encodeFilters, type Filter } from './filters.ts';
import { listPages, type Page, type PageQuery, type Pages } from './paging.ts';
import type { CausewayOptions, RequestOptions, Send } from './request.ts';
import type { Event } from './wire.ts';

export type EventFilter = Filter<'type' | 'user_id' | 'subject_id'>;

export type EventQuery = PageQuery & {
  /** If set, only the events after the one with this id are listed, oldest first. */
  after?: string | undefined;
  filters?: readonly EventFilter[] | undefined;
};

type ForwardQuery = Omit<EventQuery, 'filters'>;

export type Events = {
  /**
   * Lists events, newest first. With `after`, lists only later events, oldest first. Iterating fetches one page after
   * another until there are no more events.
   */
  list(query?: EventQuery, options?: RequestOptions): Pages<Event>;
  get(id: string, options?: RequestOptions): Promise<Event>;
  /** Streams events as they happen, oldest first. Reconnects automatically without missing any events. */
  stream(options?: EventStreamOptions): AsyncGenerator<Event, void>;
};

export function eventsOf(send: Send, client: CausewayOptions): Events {
  const path = '/v1/events';
  const list = ({ filters = [], ...query }: EventQuery = {}, options?: RequestOptions): Pages<Event> => {
    const read = (pageQuery: ForwardQuery) =>
      send<Page<Event>>({ method: 'GET', path, query: { ...pageQuery, ...encodeFilters(filters) } }, options);
    return query.after === undefined ? listPages(query, read) : listForward(query, read);
  };
  return {
    list,
    get: (id, options) => send({ method: 'GET', path: `${path}/${encodeURIComponent(id)}` }, options),
    stream: createEventStream(client, async (limit) => (await list({ limit })).data),
  };
}

/**
 * Lists events, oldest first. Each page starts after the last event of the previous page. An empty page ends the list.
 */
function listForward(query: ForwardQuery, read: (query: ForwardQuery) => Promise<Page<Event>>): Pages<Event> {
  const first = read(query);
  async function* pages() {
    for (let page = await first; ; ) {
      yield page;
      const last = page.data.at(-1);
      if (last === undefined) return;
      page = await read({ ...query, after: last.id });
    }
  }
  async function* items() {
    for await (const page of pages()) yield* page.data;
  }
  return Object.assign(first, { pages, [Symbol.asyncIterator]: items });
}
