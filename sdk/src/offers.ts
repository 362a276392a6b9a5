import { listPages, type PageQuery, type Pages } from './paging.ts';
import type { RequestOptions, Send } from './request.ts';
import type { Offer, OfferDetails } from './wire.ts';

export type Offers = {
  /** Lists the partner's published offers, newest first. */
  list(query?: PageQuery, options?: RequestOptions): Pages<Offer>;
  /** Returns an offer by id or slug. */
  get(id: string, options?: RequestOptions): Promise<OfferDetails>;
};

export function offersOf(send: Send): Offers {
  return {
    list: (query = {}, options) =>
      listPages(query, (pageQuery) => send({ method: 'GET', path: '/v1/offers', query: pageQuery }, options)),
    get: (id, options) => send({ method: 'GET', path: `/v1/offers/${encodeURIComponent(id)}` }, options),
  };
}
