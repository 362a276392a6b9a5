import type { Causeway } from './client.ts';
import type { EligibilityQuery } from './offers.ts';
import type { PageQuery, Pages } from './paging.ts';
import type { ParticipationFilter } from './participations.ts';
import type { QueryOf } from './swap.ts';
import type { QuoteQuery, TradingStatusQuery } from './tokenized.ts';

/** A read with a cache key; reads with the same key share one result. */
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

/** The queries behind the hooks, by resource name; `preload` takes them too. */
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
  swapPreview: (query: QueryOf<'previewSwap'>) =>
    defineQuery('swapPreview', query, (client, signal) => client.swap.preview(query, { signal })),
  swapOutputToken: (query: QueryOf<'getSwapOutputToken'>) =>
    defineQuery('swapOutputToken', query, (client, signal) => client.swap.outputToken(query, { signal })),
  swapStatus: (query: QueryOf<'getSwapStatus'>) =>
    defineQuery('swapStatus', query, (client, signal) => client.swap.status(query, { signal })),
  walletAuthorization: (query: QueryOf<'getWalletAuthorization'>) =>
    defineQuery('walletAuthorization', query, (client, signal) => client.swap.authorized(query, { signal })),
  tokenAllowance: (query: QueryOf<'getTokenAllowance'>) =>
    defineQuery('tokenAllowance', query, (client, signal) => client.token.allowance(query, { signal })),
  tokenBalance: (query: QueryOf<'getTokenBalance'>) =>
    defineQuery('tokenBalance', query, (client, signal) => client.token.balance(query, { signal })),
  tokenizedOrders: (count = 20) =>
    defineQuery('tokenizedOrders', count, (client, signal) =>
      take(count, (page) => client.tokenized.orders(page, { signal })),
    ),
  quote: (query: QuoteQuery) =>
    defineQuery('quote', query, (client, signal) => client.tokenized.quote(query, { signal })),
  tradingStatus: (query: TradingStatusQuery) =>
    defineQuery('tradingStatus', query, (client, signal) =>
      client.tokenized.tradingStatus(query, { signal }),
    ),
} as const;

export type Queries = typeof queries;
/** The resource names that `useInvalidate` accepts. */
export type Resource = keyof Queries;

/** @deprecated Use `Query`. */
export type Ask<Data> = Query<Data>;
/** @deprecated Use `Queries`. */
export type Asks = Queries;
