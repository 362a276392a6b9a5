import type { VenueChain } from './attest.ts';
import type { Session } from './calendar.ts';
import { formatScaled } from './decimals.ts';
import { type Market, VenueError } from './market.ts';
import { pricedAt, type Side } from './prices.ts';

const UNIT = 10n ** 18n;
const SESSIONS: Session[] = ['premarket', 'regular', 'postmarket', 'overnight', 'offhours'];

type Query = URLSearchParams;

/** What the venue tells without signing anything. */
export function createReads(market: Market, { chainId, deployment }: VenueChain, now: () => number) {
  const iso = (time: number) => new Date(time).toISOString();

  function tradingLimits(query: Query) {
    const asset = market.asset(query.get('symbol'));
    const side = readSide(query.get('side'));
    const refusal = market.refusal(asset, side);
    const answer = { timestamp: now(), symbol: asset.symbol, side };
    const { status } = market.now();
    const price = pricedAt(market.mid(asset), { side, duration: 'short', status, notional: 0n });
    const { maxTokens, maxNotional, remaining } = market.limits(asset, price);
    const reason =
      refusal ??
      (maxNotional === 0n
        ? new VenueError(400, remaining === 0 ? 'MAX_ATTESTATIONS' : 'MAX_LIMIT_REACHED')
        : null);
    return {
      ...answer,
      maxTokens: formatScaled(reason === null ? maxTokens : 0n),
      maxNotionalValue: formatScaled(reason === null ? maxNotional : 0n),
      remainingAttestations: String(remaining),
      isAssetTradingOpen: reason === null,
      ...(reason !== null && { reason: { code: reason.code, message: reason.message } }),
    };
  }

  function sessionLimits(query: Query) {
    const wanted = query.get('symbol');
    const assets = wanted === null ? deployment.assets : [market.asset(wanted)];
    const limits = assets.map(({ symbol }) => ({
      symbol,
      ...Object.fromEntries(
        SESSIONS.map((session) => {
          const { tradable, maxAttestationCount, maxActiveNotional } = market.sessionLimit(symbol, session);
          const cap = {
            maxAttestationCount: String(maxAttestationCount),
            maxActiveNotionalValue: String(maxActiveNotional / UNIT),
          };
          return [session, { tradable, ...cap }];
        }),
      ),
    }));
    return { limits, timestamp: now() };
  }

  function marketStatus() {
    const { status, moment } = market.now();
    const isOpen = !['offhours', 'paused', 'closed'].includes(status);
    const reason = status === 'paused' ? 'MARKET_PAUSED' : 'MARKET_CLOSED';
    return {
      timestamp: iso(now()),
      isOpen,
      marketStatus: status,
      nextOpenSession: moment?.next.name ?? 'regular',
      ...(moment !== null && { nextOpen: iso(moment.next.start) }),
      ...(moment?.nextClose != null && { nextClose: iso(moment.nextClose) }),
      ...(!isOpen && { reason: { code: reason, message: reason.toLowerCase() } }),
      offhours: {
        isOpen: status === 'offhours',
        ...(moment !== null && {
          nextOpen: iso(moment.offhours.nextOpen),
          nextClose: iso(moment.offhours.nextClose),
        }),
      },
    };
  }

  const assetEvents = () =>
    deployment.assets
      .filter(({ symbol }) => market.setting(symbol).paused)
      .map(({ symbol }) => ({
        symbol,
        status: 'active',
        type: 'unscheduled',
        reason: { code: 'ASSET_PAUSED', message: 'maintenance' },
      }));

  const addresses = (symbol: string) => {
    const { address, decimals } = market.asset(symbol);
    return [
      { networkChainId: 'ethereum-1', address, decimals },
      { networkChainId: `ethereum-${chainId}`, address, decimals },
    ];
  };

  const latestPrice = (symbol: string) => {
    const asset = market.asset(symbol);
    const price = formatScaled(market.mid(asset));
    return {
      primaryMarket: { symbol, price },
      underlyingMarket: { ticker: asset.ticker, price },
      timestamp: now(),
    };
  };

  return { tradingLimits, sessionLimits, marketStatus, assetEvents, addresses, latestPrice };
}

function readSide(side: string | null): Side {
  if (side === null) throw new VenueError(400, 'MISSING_SIDE');
  if (side !== 'buy' && side !== 'sell') throw new VenueError(400, 'INVALID_SIDE');
  return side;
}
