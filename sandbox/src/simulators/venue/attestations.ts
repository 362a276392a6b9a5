import { randomUUID } from 'node:crypto';
import { QUOTE_TYPES, venueDomain } from '@causeway/contracts/encodings/tokenized-order.ts';
import type { Hex } from 'viem';
import { roles } from '../../seed/keys.ts';
import type { DeployedAsset, VenueDeployment } from '../chains/deploy-venue.ts';
import { parseScaled } from './decimals.ts';
import { type Market, VenueError } from './market.ts';
import { type Duration, priceWithSpread, type Side } from './prices.ts';
import type { VenueStore } from './state.ts';

const UNIT = 10n ** 18n;
const MIN_NOTIONAL = UNIT;
const ATTESTATION_TTL_SECONDS: Record<Duration, number> = { short: 30, long: 60 };
const CHAIN_PATTERN = /^(ethereum|bsc|solana)-(\d{1,12})$/;
const MAINNET = '1';
/** The venue's tokens on mainnet, where only indicative quotes are available. */
const MAINNET_ADDRESSES: Record<string, Hex> = {
  AAPLon: '0x14c3abf95cb9c93a8b82c1cdcb76d72cb87b2d4c',
  TSLAon: '0xf6b1117ec07684d3958cad8beb1b302bfd21103f',
};

export type VenueChain = { chainId: number; deployment: VenueDeployment };
/** Calculates the price of an order. `attest` also signs an attestation and counts it towards the limits. */
export type Attestations = {
  softQuote(body: unknown): Record<string, unknown>;
  attest(body: unknown): Promise<Record<string, unknown>>;
};

type PricedOrder = {
  asset: DeployedAsset;
  side: Side;
  chain: string;
  price: bigint;
  quantity: bigint;
  notional: bigint;
};

export function createAttestations(
  store: VenueStore,
  market: Market,
  { chainId, deployment }: VenueChain,
  now: () => number,
  attested: (expiration: number) => void,
): Attestations {
  const { state, save } = store;

  function priceOrder(body: unknown): PricedOrder & { duration: Duration } {
    const order = (body ?? {}) as Record<string, unknown>;
    const chain = readChain(order.chainId);
    const asset = market.asset(order.symbol);
    const { side, duration } = readSideAndDuration(order);
    const refusal = market.findRefusal(asset, side);
    if (refusal !== null) throw refusal;
    const mid = market.mid(asset);
    const size = readSize(order, mid);
    const { status } = market.now();
    const price = priceWithSpread(mid, { side, duration, status, notional: size.notional });
    const quantity = size.tokens ?? (size.notional * UNIT) / price;
    return { asset, side, chain, price, quantity, notional: (quantity * price) / UNIT, duration };
  }

  const toWire = ({ asset, side, chain, price, quantity }: PricedOrder) => ({
    chainId: chain,
    symbol: asset.symbol,
    ticker: asset.ticker,
    assetAddress: chain === MAINNET ? (MAINNET_ADDRESSES[asset.symbol] ?? asset.address) : asset.address,
    side: side === 'buy' ? '0' : '1',
    tokenAmount: quantity.toString(),
    price: price.toString(),
  });

  return {
    softQuote: (body) => toWire(priceOrder(body)),
    attest: async (body) => {
      const order = priceOrder(body);
      if (order.chain !== String(chainId)) throw new VenueError(400, 'UNSUPPORTED_GM_CHAIN');
      if (order.notional < MIN_NOTIONAL) throw new VenueError(400, 'INVALID_NOTIONAL_VALUE');
      const { maxNotional, remaining } = market.limits(order.asset, order.price);
      if (remaining === 0) throw new VenueError(400, 'MAX_ATTESTATIONS');
      if (order.notional > maxNotional) throw new VenueError(400, 'MAX_LIMIT_REACHED');
      const attestationId = BigInt(`0x${randomUUID().replaceAll('-', '')}`);
      const expiration = Math.floor(now() / 1000) + ATTESTATION_TTL_SECONDS[order.duration];
      // Counts the attestation before signing it, so that it counts towards the limits even if the reply is lost.
      state.attestations += 1;
      state.live.push({
        id: attestationId.toString(),
        symbol: order.asset.symbol,
        notional: order.notional.toString(),
        expiration,
        session: market.now().session,
      });
      save();
      attested(expiration);
      const signature = await sign(chainId, deployment, order, attestationId, expiration);
      return {
        ...toWire(order),
        attestationId: attestationId.toString(),
        userId: deployment.user_id,
        expiration,
        signature: Buffer.from(signature.slice(2), 'hex').toString('base64'),
        additionalData: '',
      };
    },
  };
}

function sign(
  chainId: number,
  { manager, user_id: userId }: VenueDeployment,
  { asset, price, quantity, side }: PricedOrder,
  attestationId: bigint,
  expiration: number,
): Promise<Hex> {
  return roles.venueSigner.signTypedData({
    domain: venueDomain(chainId, manager),
    types: QUOTE_TYPES,
    primaryType: 'Quote',
    message: {
      chainId: BigInt(chainId),
      attestationId,
      userId,
      asset: asset.address,
      price,
      quantity,
      expiration: BigInt(expiration),
      side: side === 'buy' ? 0 : 1,
      additionalData: `0x${'00'.repeat(32)}`,
    },
  });
}

function readChain(value: unknown): string {
  if (value === undefined) throw new VenueError(400, 'MISSING_CHAIN_ID');
  const id = CHAIN_PATTERN.exec(String(value))?.[2];
  if (id === undefined) throw new VenueError(400, 'INVALID_GM_CHAIN');
  return id;
}

function readSideAndDuration(order: Record<string, unknown>): { side: Side; duration: Duration } {
  const { side, duration = 'short' } = order;
  if (side === undefined) throw new VenueError(400, 'MISSING_SIDE');
  if (side !== 'buy' && side !== 'sell') throw new VenueError(400, 'INVALID_SIDE');
  if (duration !== 'short' && duration !== 'long') throw new VenueError(400, 'INVALID_DURATION');
  return { side, duration };
}

function readSize(order: Record<string, unknown>, mid: bigint): { tokens: bigint | null; notional: bigint } {
  const { tokenAmount, notionalValue } = order;
  if ((tokenAmount === undefined) === (notionalValue === undefined))
    throw new VenueError(400, 'MISSING_TOKEN_OR_NOTIONAL');
  if (notionalValue !== undefined) {
    const notional = parseScaled(notionalValue);
    if (notional === null || notional === 0n) throw new VenueError(400, 'INVALID_NOTIONAL_VALUE');
    return { tokens: null, notional };
  }
  const tokens = parseScaled(tokenAmount);
  if (tokens === null || tokens === 0n) throw new VenueError(400, 'INVALID_TOKEN_AMOUNT');
  return { tokens, notional: (tokens * mid) / UNIT };
}
