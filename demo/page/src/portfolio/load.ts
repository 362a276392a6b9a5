import { type Causeway, type Chain, isEvmChain, type OfferDetails, parseAmount } from '@causeway/sdk';
import type { ChainConfig } from '../config.ts';
import { readFundSwaps } from './fund-swaps.ts';
import { type Entry, fromFundSwap, fromOrder, fromParticipation, type Quantity } from './history.ts';

/** The user's holding of one asset on one chain. `value`, `cost` and `gain` are in millionths of a dollar. */
export type Holding = {
  offer: OfferDetails;
  chain: Chain;
  quantity: Quantity;
  /** Null if there is no price. */
  value: bigint | null;
  /** The amount that the user paid, without fees. */
  cost: bigint;
  /** Null for token sales, which are valued at cost. Also null if the value is null or the cost is 0. */
  gain: bigint | null;
};

export type Portfolio = { holdings: Holding[]; history: Entry[] };

const USD_DECIMALS = 6;

/** Reads the user's holdings and history from the API, and the user's fund swaps from the chain. */
export async function loadPortfolio(
  client: Causeway,
  chains: readonly ChainConfig[],
  wallet: string | undefined,
): Promise<Portfolio> {
  const [participations, orders, offers] = await Promise.all([
    client.participations.list({ limit: 100 }),
    client.tokenized.orders({ limit: 100 }),
    client.offers.list({ limit: 100 }),
  ]);
  const sold = new Set(participations.data.map(({ offer_id }) => offer_id));
  const details = await Promise.all(
    offers.data
      .filter(({ id, type }) => type !== 'platform::token_sale' || sold.has(id))
      .map(({ id }) => client.offers.get(id)),
  );
  const funds = details.filter(({ type }) => type === 'fund::swap');
  const swaps =
    wallet === undefined
      ? []
      : (
          await Promise.all(funds.map((offer) => readFundSwaps(offer, chains, wallet).catch(() => [])))
        ).flat();
  const offerOf = (matches: (offer: OfferDetails) => boolean) => details.find(matches);
  const history = [
    ...participations.data.flatMap((one) => {
      const offer = offerOf(({ id }) => id === one.offer_id);
      return offer === undefined ? [] : [fromParticipation(one, offer)];
    }),
    ...orders.data.flatMap((order) => {
      const offer = offerOf(({ asset, type }) => type === 'tokenized::swap' && asset.code === order.symbol);
      return offer === undefined ? [] : [fromOrder(order, offer)];
    }),
    ...swaps.map(fromFundSwap),
  ].sort((a, b) => b.at.localeCompare(a.at));
  const bought = details.flatMap((offer) => offer.contracts.map(({ chain }) => ({ offer, chain })));
  const holdings = await Promise.all(
    bought.map(({ offer, chain }) => readHolding(client, { offer, chain, history, wallet })),
  );
  return { history, holdings: holdings.filter((one) => one !== null) };
}

type Source = { offer: OfferDetails; chain: Chain; history: readonly Entry[]; wallet: string | undefined };

async function readHolding(client: Causeway, source: Source): Promise<Holding | null> {
  const { offer, chain, wallet } = source;
  const isSale = offer.type === 'platform::token_sale';
  const entries = source.history.filter(
    (one) =>
      one.offer === offer &&
      one.chain === chain &&
      one.status === 'completed' &&
      // For sales, payments from all wallets count. Otherwise the quantity is the balance of the connected wallet, so
      // only payments from that wallet count.
      (isSale || one.wallet?.toLowerCase() === wallet?.toLowerCase()),
  );
  const cost = entries.reduce((sum, { paid, fee }) => sum + toUsd(paid.units - fee.units, paid.decimals), 0n);
  const quantity = isSale ? sumReceived(entries, offer) : await readBalance(client, source);
  if (quantity === null || quantity.units === 0n) return null;
  // The tokens of a sale have no market price until they are traded, so they are valued at cost.
  if (isSale) return { offer, chain, quantity, cost, value: cost, gain: null };
  const price = await readPrice(client, offer);
  const value =
    price === null ? null : (quantity.units * price) / 10n ** BigInt(quantity.decimals + 18 - USD_DECIMALS);
  const gain = value === null || cost === 0n ? null : value - cost;
  return { offer, chain, quantity, cost, value, gain };
}

/** Adds up the quantities bought in a sale. They are estimates until the issuer delivers the tokens. */
function sumReceived(entries: readonly Entry[], { asset }: OfferDetails): Holding['quantity'] {
  const units = entries.reduce((sum, { received }) => sum + (received?.units ?? 0n), 0n);
  return { units, decimals: 18, code: asset.code, isEstimate: true };
}

async function readBalance(
  client: Causeway,
  { offer, chain, wallet }: Source,
): Promise<Holding['quantity'] | null> {
  const token = offer.contracts.find((contract) => contract.chain === chain)?.asset_address;
  if (token == null || wallet === undefined || !isEvmChain(chain)) return null;
  const { balance } = await client.token.balance({ token_address: token, owner: wallet, chain });
  const { fractional_digits: decimals, code } = offer.asset;
  return { units: BigInt(balance), decimals, code, isEstimate: false };
}

/**
 * Returns the price of one token in dollars with 18 decimals. For a fund, this is the price of the first option. For a
 * tokenized asset, it is the live price, or the last recorded price while the asset cannot be traded.
 */
async function readPrice(client: Causeway, offer: OfferDetails): Promise<bigint | null> {
  if (offer.type !== 'tokenized::swap') return toPrice(offer.options[0]?.price_usd);
  const symbol = offer.asset.code;
  const { tradable } = await client.tokenized.tradingStatus({ symbol, side: 'buy' });
  if (tradable)
    return toPrice((await client.tokenized.quote({ symbol, side: 'buy', token_amount: '1' })).price);
  return toPrice((await client.tokenized.market({ symbol })).prices.data.at(-1)?.price);
}

function toPrice(decimal: string | null | undefined): bigint | null {
  const price = parseAmount(decimal ?? '', 18);
  return price === null ? null : BigInt(price);
}

function toUsd(units: bigint, decimals: number): bigint {
  return (units * 10n ** BigInt(USD_DECIMALS)) / 10n ** BigInt(decimals);
}
