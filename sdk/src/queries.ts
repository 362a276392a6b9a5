import type { Causeway } from './client.ts';
import type { PageQuery, Pages } from './paging.ts';
import type { ParticipationFilter } from './participations.ts';
import type { QuoteQuery, TradingStatusQuery } from './tokenized.ts';
import type { Operations } from './wire.ts';

/** A read with a name: equal names share one answer. */
export type Ask<Data> = {
  /** The resource, a colon, and what is asked of it. */
  readonly key: string;
  load(client: Causeway, signal?: AbortSignal): Promise<Data>;
};

/** The first items of a list, and whether there are more. */
export type Listed<Item> = { items: Item[]; hasMore: boolean };

type Query<Name extends keyof Operations> = Operations[Name] extends { query: infer Asked } ? Asked : never;

const LARGEST_PAGE = 100;

function ask<Data>(resource: string, asked: unknown, load: Ask<Data>['load']): Ask<Data> {
  return { key: `${resource}:${JSON.stringify(asked) ?? ''}`, load };
}

/** Walks as many pages as it takes to have `count` items. */
async function take<Item>(count: number, list: (query: PageQuery) => Pages<Item>): Promise<Listed<Item>> {
  const items: Item[] = [];
  for await (const page of list({ limit: Math.min(count, LARGEST_PAGE) }).pages()) {
    items.push(...page.data);
    if (items.length < count && page.starting_after !== undefined) continue;
    return {
      items: items.slice(0, count),
      hasMore: items.length > count || page.starting_after !== undefined,
    };
  }
  return { items, hasMore: false };
}

/** What the hooks ask, by their names; for `preload`. */
export const asks = {
  offers: (count = LARGEST_PAGE) =>
    ask('offers', count, (client, signal) => take(count, (page) => client.offers.list(page, { signal }))),
  offer: (idOrSlug: string) =>
    ask('offer', idOrSlug, (client, signal) => client.offers.get(idOrSlug, { signal })),
  requirements: (offerId: string) =>
    ask('requirements', offerId, (client, signal) => client.requirements.list(offerId, { signal })),
  requirementStatuses: (offerId: string) =>
    ask('requirementStatuses', offerId, (client, signal) =>
      client.requirements.statuses(offerId, { signal }),
    ),
  connectedWallets: (offerId: string, optionId?: string, count = LARGEST_PAGE) =>
    ask('connectedWallets', [offerId, optionId ?? null, count], (client, signal) =>
      take(count, (page) =>
        client.wallets.list(offerId, optionId === undefined ? page : { ...page, offer_option_id: optionId }, {
          signal,
        }),
      ),
    ),
  participations: (filters: readonly ParticipationFilter[] = [], count = 20) =>
    ask('participations', [filters, count], (client, signal) =>
      take(count, (page) => client.participations.list({ ...page, filters }, { signal })),
    ),
  participation: (id: string) =>
    ask('participation', id, (client, signal) => client.participations.get(id, { signal })),
  pii: () => ask('pii', '', (client, signal) => client.pii.get({ signal })),
  swapPreview: (query: Query<'previewSwap'>) =>
    ask('swapPreview', query, (client, signal) => client.swap.preview(query, { signal })),
  swapOutputToken: (query: Query<'getSwapOutputToken'>) =>
    ask('swapOutputToken', query, (client, signal) => client.swap.outputToken(query, { signal })),
  swapStatus: (query: Query<'getSwapStatus'>) =>
    ask('swapStatus', query, (client, signal) => client.swap.status(query, { signal })),
  walletAuthorization: (query: Query<'getWalletAuthorization'>) =>
    ask('walletAuthorization', query, (client, signal) => client.swap.authorized(query, { signal })),
  tokenAllowance: (query: Query<'getTokenAllowance'>) =>
    ask('tokenAllowance', query, (client, signal) => client.token.allowance(query, { signal })),
  tokenBalance: (query: Query<'getTokenBalance'>) =>
    ask('tokenBalance', query, (client, signal) => client.token.balance(query, { signal })),
  quote: (query: QuoteQuery) =>
    ask('quote', query, (client, signal) => client.tokenized.quote(query, { signal })),
  tradingStatus: (query: TradingStatusQuery) =>
    ask('tradingStatus', query, (client, signal) => client.tokenized.tradingStatus(query, { signal })),
} as const;

export type Asks = typeof asks;
/** Names of what can be asked, which `useInvalidate` takes. */
export type Resource = keyof Asks;
