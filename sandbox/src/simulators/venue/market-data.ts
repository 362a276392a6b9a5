import type { VenueChain } from './attestations.ts';
import type { Session } from './calendar.ts';
import { formatScaled } from './decimals.ts';
import { type Market, VenueError } from './market.ts';
import { priceWithSpread, type Side } from './prices.ts';

const UNIT = 10n ** 18n;
const SESSIONS: Session[] = ['premarket', 'regular', 'postmarket', 'overnight', 'offhours'];

type Query = URLSearchParams;

/** The venue's unsigned data: limits, status, addresses and prices. */
export function createMarketData(market: Market, { chainId, deployment }: VenueChain, now: () => number) {
  const iso = (time: number) => new Date(time).toISOString();

  function tradingLimits(query: Query) {
    const asset = market.asset(query.get('symbol'));
    const side = readSide(query.get('side'));
    const refusal = market.findRefusal(asset, side);
    const { status } = market.now();
    const price = priceWithSpread(market.mid(asset), { side, duration: 'short', status, notional: 0n });
    const { maxTokens, maxNotional, remaining } = market.limits(asset, price);
    const reason =
      refusal ??
      (maxNotional === 0n
        ? new VenueError(400, remaining === 0 ? 'MAX_ATTESTATIONS' : 'MAX_LIMIT_REACHED')
        : null);
    const isReported = reason === null || reason.code === 'MARKET_CLOSED';
    return {
      timestamp: now(),
      symbol: asset.symbol,
      side,
      maxTokens: formatScaled(isReported ? maxTokens : 0n),
      maxNotionalValue: formatScaled(isReported ? maxNotional : 0n),
      remainingAttestations: String(remaining),
      isAssetTradingOpen: reason === null,
      ...(reason !== null && { reason: { code: reason.code, message: reason.message } }),
    };
  }

  function sessionLimits(query: Query) {
    const symbol = query.get('symbol');
    const assets = symbol === null ? deployment.assets : [market.asset(symbol)];
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
