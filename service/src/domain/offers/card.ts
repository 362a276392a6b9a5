import { formatUnits } from 'viem/utils';
import type { Caller } from '../../kernel/access.ts';
import type { OfferCard, OfferDetails, OfferList } from '../../kernel/model/offer.ts';
import type { PageQuery } from '../../kernel/paging.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Offer } from '../../platform/context/ports.ts';
import { readInclude } from '../../platform/http/include.ts';
import type { Query } from '../../platform/http/query-string.ts';
import { findOffer, listOffers, offerState, readOffer } from './offer.ts';
import { sumCompleted } from './store.ts';

const INCLUDES = ['summary'] as const;
/** The number of fractional digits in scaled amounts. No price or supply has more. */
const DIGITS = 18;

export function listOffersWith(
  ctx: Context,
  caller: Caller,
  query: PageQuery,
  raw: Query,
): OfferList | Promise<OfferList> {
  return readInclude(raw, INCLUDES).size === 0
    ? listOffers(ctx, caller, query)
    : listCards(ctx, caller, query);
}

async function listCards(ctx: Context, caller: Caller, query: PageQuery): Promise<OfferList> {
  const [page, { byKey }] = await Promise.all([
    listOffers(ctx, caller, query),
    ctx.offers.of(caller.partnerId),
  ]);
  const cards = await createCards(
    ctx,
    page.data.flatMap(({ id }) => byKey.get(id) ?? []),
  );
  return {
    ...page,
    data: page.data.map((offer) => {
      const summary = cards.get(offer.id);
      return summary === undefined ? offer : { ...offer, summary };
    }),
  };
}

export function readOfferWith(
  ctx: Context,
  caller: Caller,
  idOrSlug: string,
  raw: Query,
): OfferDetails | Promise<OfferDetails> {
  return readInclude(raw, INCLUDES).size === 0
    ? readOffer(ctx, caller, idOrSlug)
    : readCard(ctx, caller, idOrSlug);
}

async function readCard(ctx: Context, caller: Caller, idOrSlug: string): Promise<OfferDetails> {
  const offer = await findOffer(ctx, caller, idOrSlug);
  const summary = (await createCards(ctx, [offer])).get(offer.id);
  return { ...offer.details, ...(summary !== undefined && { summary }) };
}

async function createCards(ctx: Context, offers: readonly Offer[]): Promise<Map<string, OfferCard>> {
  const sales = offers.filter(({ type }) => type === 'platform::token_sale').map(({ id }) => id);
  const raised = await sumCompleted(ctx.db, sales);
  return new Map(
    offers.map((offer) => [
      offer.id,
      {
        name: offer.name,
        asset: offer.asset,
        chains: [...new Set(offer.contracts.map(({ chain }) => chain))],
        state: offerState(offer, ctx.clock.now()),
        price_usd: lowestPrice(offer),
        raised_usd: sales.includes(offer.id) ? (raised.get(offer.id) ?? '0') : null,
        target_usd: sales.includes(offer.id) ? targetOf(offer) : null,
        fee_bps: offer.fee_bps,
      },
    ]),
  );
}

function lowestPrice({ options }: Offer): string | null {
  const prices = options.flatMap(({ price_usd }) => price_usd ?? []);
  return prices.reduce<string | null>(
    (lowest, price) => (lowest === null || scaled(price) < scaled(lowest) ? price : lowest),
    null,
  );
}

/** Price times supply in US dollars, summed over all options. Null if any option lacks a price or a supply cap. */
function targetOf({ options }: Offer): string | null {
  let target = 0n;
  for (const { price_usd, total_token_supply } of options) {
    if (price_usd === null || total_token_supply === null) return null;
    target += scaled(price_usd) * scaled(total_token_supply);
  }
  return formatUnits(target / 10n ** BigInt(DIGITS), DIGITS);
}

function scaled(decimal: string): bigint {
  const [whole = '0', fraction = ''] = decimal.split('.');
  return BigInt(whole + fraction.padEnd(DIGITS, '0'));
}
