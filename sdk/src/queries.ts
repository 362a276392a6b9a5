import type { Causeway } from './client.ts';
import type { EligibilityQuery } from './offers.ts';
import type { PageQuery, Pages } from './paging.ts';
import type { ParticipationFilter } from './participations.ts';
import type { RequestOptions } from './request.ts';

/** A read with a cache key. Queries with the same key share one result. */
export type Query<Data> = {
  /** `resource:parameters`. */
  readonly key: string;
  load(client: Causeway, signal?: AbortSignal): Promise<Data>;
};

/** The first items of a list, and whether there are more. */
export type Listed<Item> = { items: Item[]; hasMore: boolean };

const MAX_PAGE_SIZE = 100;

function defineQuery<Data>(resource: string, params: unknown, load: Query<Data>['load']): Query<Data> {
  return { key: `${resource}:${JSON.stringify(params) ?? ''}`, load };
}

/** Defines a query that takes the same parameters as one of the client's calls. */
function readWith<Params, Data>(
  resource: string,
  callOf: (client: Causeway) => (params: Params, options?: RequestOptions) => Promise<Data>,
) {
  return (params: Params) =>
    defineQuery(resource, params, (client, signal) => callOf(client)(params, { signal }));
}

/** Reads as many pages as needed for `count` items. */
async function take<Item>(count: number, list: (query: PageQuery) => Pages<Item>): Promise<Listed<Item>> {
  const items: Item[] = [];
  for await (const page of list({ limit: Math.min(count, MAX_PAGE_SIZE) }).pages()) {
    items.push(...page.data);
    if (items.length < count && page.starting_after !== undefined) continue;
    return {
      items: items.slice(0, count),
      hasMore: items.length > count || page.starting_after !== undefined,
    };
  }
  return { items, hasMore: false };
}

/** The queries that the hooks use, by resource name. They can also be passed to `preload`. */
export const queries = {
  offers: (count = MAX_PAGE_SIZE) =>
    defineQuery('offers', count, (client, signal) =>
      take(count, (page) => client.offers.list({ ...page, include: 'summary' }, { signal })),
    ),
  offer: (idOrSlug: string) =>
    defineQuery('offer', idOrSlug, (client, signal) =>
      client.offers.get(idOrSlug, { signal, include: 'summary' }),
    ),
  eligibility: (offerId: string, query: EligibilityQuery = {}) =>
    defineQuery('eligibility', [offerId, query], (client, signal) =>
      client.offers.eligibility(offerId, query, { signal }),
    ),
  requirements: (offerId: string) =>
    defineQuery('requirements', offerId, (client, signal) => client.requirements.list(offerId, { signal })),
  requirementStatuses: (offerId: string) =>
    defineQuery('requirementStatuses', offerId, (client, signal) =>
      client.requirements.statuses(offerId, { signal }),
    ),
  connectedWallets: (offerId: string, optionId?: string, count = MAX_PAGE_SIZE) =>
    defineQuery('connectedWallets', [offerId, optionId ?? null, count], (client, signal) =>
      take(count, (page) =>
        client.wallets.list(offerId, optionId === undefined ? page : { ...page, offer_option_id: optionId }, {
          signal,
        }),
      ),
    ),
  participations: (filters: readonly ParticipationFilter[] = [], count = 20) =>
    defineQuery('participations', [filters, count], (client, signal) =>
      take(count, (page) => client.participations.list({ ...page, filters }, { signal })),
    ),
  participation: (id: string) =>
    defineQuery('participation', id, (client, signal) =>
      client.participations.get(id, { signal, include: 'transactions' }),
    ),
  pii: () => defineQuery('pii', '', (client, signal) => client.pii.get({ signal })),
  swapPreview: readWith('swapPreview', (client) => client.swap.preview),
  swapOutputToken: readWith('swapOutputToken', (client) => client.swap.outputToken),
  swapStatus: readWith('swapStatus', (client) => client.swap.status),
  walletAuthorization: readWith('walletAuthorization', (client) => client.swap.authorized),
  tokenAllowance: readWith('tokenAllowance', (client) => client.token.allowance),
  tokenBalance: readWith('tokenBalance', (client) => client.token.balance),
  tokenizedOrders: (count = 20) =>
    defineQuery('tokenizedOrders', count, (client, signal) =>
      take(count, (page) => client.tokenized.orders(page, { signal })),
    ),
  quote: readWith('quote', (client) => client.tokenized.quote),
  tradingStatus: readWith('tradingStatus', (client) => client.tokenized.tradingStatus),
  market: readWith('market', (client) => client.tokenized.market),
} as const;

export type Queries = typeof queries;
/** The resource names that `useInvalidate` accepts. */
export type Resource = keyof Queries;
