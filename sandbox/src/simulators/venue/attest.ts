import { randomUUID } from 'node:crypto';
import type { Hex } from 'viem';
import { roles } from '../../seed/keys.ts';
import type { DeployedAsset, VenueDeployment } from '../chains/deploy-venue.ts';
import { parseScaled } from './decimals.ts';
import { type Market, VenueError } from './market.ts';
import { type Duration, pricedAt, type Side } from './prices.ts';
import type { VenueStore } from './state.ts';

const UNIT = 10n ** 18n;
const MINIMUM = UNIT;
const LIFE: Record<Duration, number> = { short: 30, long: 60 };
const CHAINS = /^(ethereum|bsc|solana)-(\d{1,12})$/;
const MAINNET = '1';
/** Where the venue's tokens are on mainnet; only indicative quotes name it. */
const MAINNET_ADDRESSES: Record<string, Hex> = {
  AAPLon: '0x14c3abf95cb9c93a8b82c1cdcb76d72cb87b2d4c',
  TSLAon: '0xf6b1117ec07684d3958cad8beb1b302bfd21103f',
};

export const QUOTE_TYPES = {
  Quote: [
    { name: 'chainId', type: 'uint256' },
    { name: 'attestationId', type: 'uint256' },
    { name: 'userId', type: 'bytes32' },
    { name: 'asset', type: 'address' },
    { name: 'price', type: 'uint256' },
    { name: 'quantity', type: 'uint256' },
    { name: 'expiration', type: 'uint256' },
    { name: 'side', type: 'uint8' },
    { name: 'additionalData', type: 'bytes32' },
  ],
} as const;

export type VenueChain = { chainId: number; deployment: VenueDeployment };
export type Desk = {
  quote(body: unknown): Record<string, unknown>;
  attest(body: unknown): Promise<Record<string, unknown>>;
};

type Priced = {
  asset: DeployedAsset;
  side: Side;
  chain: string;
  price: bigint;
  quantity: bigint;
  notional: bigint;
};

/** Prices orders, and signs those that are meant. */
export function createDesk(
  store: VenueStore,
  market: Market,
  { chainId, deployment }: VenueChain,
  now: () => number,
): Desk {
  const { state, save } = store;

  function priceOrder(body: unknown): Priced & { duration: Duration } {
    const order = (body ?? {}) as Record<string, unknown>;
    const chain = readChain(order.chainId);
    const asset = market.asset(order.symbol);
    const { side, duration } = readKind(order);
    const refusal = market.refusal(asset, side);
    if (refusal !== null) throw refusal;
    const mid = market.mid(asset);
    const sized = readSize(order, mid);
    const { status } = market.now();
    const price = pricedAt(mid, { side, duration, status, notional: sized.notional });
    const quantity = sized.tokens ?? (sized.notional * UNIT) / price;
    return { asset, side, chain, price, quantity, notional: (quantity * price) / UNIT, duration };
  }

  const shown = ({ asset, side, chain, price, quantity }: Priced) => ({
    chainId: chain,
    symbol: asset.symbol,
    ticker: asset.ticker,
    assetAddress: chain === MAINNET ? (MAINNET_ADDRESSES[asset.symbol] ?? asset.address) : asset.address,
    side: side === 'buy' ? '0' : '1',
    tokenAmount: quantity.toString(),
    price: price.toString(),
  });

  return {
    quote: (body) => shown(priceOrder(body)),
    attest: async (body) => {
      const order = priceOrder(body);
      if (order.chain !== String(chainId)) throw new VenueError(400, 'UNSUPPORTED_GM_CHAIN');
      if (order.notional < MINIMUM) throw new VenueError(400, 'INVALID_NOTIONAL_VALUE');
      const { maxNotional, remaining } = market.limits(order.asset, order.price);
      if (remaining === 0) throw new VenueError(400, 'MAX_ATTESTATIONS');
      if (order.notional > maxNotional) throw new VenueError(400, 'MAX_LIMIT_REACHED');
      const attestationId = BigInt(`0x${randomUUID().replaceAll('-', '')}`);
      const expiration = Math.floor(now() / 1000) + LIFE[order.duration];
      // Counted before it is signed: whoever asked twice has spent twice, whatever became of the answers.
      state.attestations += 1;
      state.live.push({
        id: attestationId.toString(),
        symbol: order.asset.symbol,
        notional: order.notional.toString(),
        expiration,
        session: market.now().session,
      });
      save();
      const signature = await sign(chainId, deployment, order, attestationId, expiration);
      return {
        ...shown(order),
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
  { asset, price, quantity, side }: Priced,
  attestationId: bigint,
  expiration: number,
): Promise<Hex> {
  return roles.venueSigner.signTypedData({
    domain: { name: 'OndoGMTokenManager', version: '1', chainId, verifyingContract: manager },
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
  const id = CHAINS.exec(String(value))?.[2];
  if (id === undefined) throw new VenueError(400, 'INVALID_GM_CHAIN');
  return id;
}

function readKind(order: Record<string, unknown>): { side: Side; duration: Duration } {
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
