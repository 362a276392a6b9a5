import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { applyFault, type Fault } from '../fault.ts';
import { isSecret, readBody, sendJson } from '../http.ts';
import { createAttestations, type VenueChain } from './attestations.ts';
import { createMarket, VenueError } from './market.ts';
import { createMarketData } from './market-data.ts';
import type { VenueStore } from './state.ts';

export type VenueOptions = {
  store: VenueStore;
  chain: VenueChain;
  fault: Fault;
  now(): number;
  /** Called for each new attestation, with its expiry in seconds since the epoch. */
  attested(expiration: number): void;
  /** Returns whether the manager contract has executed an attestation. */
  isExecuted(attestationId: string): Promise<boolean>;
};

const MAX_BODY_BYTES = 65_536;
const MAX_EXECUTED = 1_000;
const ADDRESSES_PATH = /^\/v1\/assets\/([^/]+)\/addresses$/;
const LATEST_PRICE_PATH = /^\/v1\/assets\/([^/]+)\/prices\/latest$/;

/** Simulates the venue's API, with the same paths, error codes and signatures. */
export function createVenueServer({ store, chain, fault, now, attested, isExecuted }: VenueOptions): Server {
  const market = createMarket(store, chain.deployment.assets, now);
  const attestations = createAttestations(store, market, chain, now, attested);
  const marketData = createMarketData(market, chain, now);

  /**
   * Removes executed and expired attestations from `live`, so that they no longer count towards the limits on live
   * attestations. Adds the executed ones to `executed`, where they count towards their session's limit.
   */
  async function settleAttestations(): Promise<void> {
    const { state } = store;
    const countBefore = state.live.length;
    const live = [...state.live];
    const outcomes = await Promise.all(live.map(({ id }) => isExecuted(id)));
    for (const [position, attestation] of live.entries()) {
      const executed = outcomes[position] === true;
      if (!executed && attestation.expiration * 1000 >= now()) continue;
      const index = state.live.indexOf(attestation);
      if (index === -1) continue;
      state.live.splice(index, 1);
      const { session, symbol, notional } = attestation;
      if (executed)
        state.executed = [...state.executed.slice(1 - MAX_EXECUTED), { session, symbol, notional }];
    }
    if (state.live.length !== countBefore) store.save();
  }

  async function handle(method: string, url: URL, body: unknown): Promise<unknown> {
    const route = `${method} ${url.pathname}`;
    switch (route) {
      case 'POST /v1/attestations/soft':
        return attestations.softQuote(body);
      case 'POST /v1/attestations':
        await settleAttestations();
        return attestations.attest(body);
      case 'GET /v1/limits/trading':
        await settleAttestations();
        return marketData.tradingLimits(url.searchParams);
      case 'GET /v1/limits/session':
        return marketData.sessionLimits(url.searchParams);
      case 'GET /v1/status/market':
        return marketData.marketStatus();
      case 'GET /v1/status/assets':
        return marketData.assetEvents();
    }
    const read = (path: RegExp) => (method === 'GET' ? path.exec(url.pathname)?.[1] : undefined);
    const addressesOf = read(ADDRESSES_PATH);
    if (addressesOf !== undefined) return marketData.addresses(decodeURIComponent(addressesOf));
    const priceOf = read(LATEST_PRICE_PATH);
    if (priceOf !== undefined) return marketData.latestPrice(decodeURIComponent(priceOf));
    throw new VenueError(404, 'RESOURCE_NOT_FOUND');
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (await applyFault(fault, request, response)) return;
    const text = await readBody(request, MAX_BODY_BYTES);
    // Like the venue's real gateway, replies with 403 to a wrong API key, although the venue's documentation says
    // otherwise.
    if (!isSecret(request.headers['x-api-key'], store.state.api_key))
      return sendJson(response, 403, { message: 'Forbidden' });
    try {
      const url = new URL(request.url ?? '/', 'http://venue');
      sendJson(response, 200, await handle(request.method ?? 'GET', url, parse(text)));
    } catch (error) {
      if (error instanceof VenueError)
        return sendJson(response, error.status, { code: error.code, message: error.message });
      sendJson(response, 500, { code: 'INTERNAL_ERROR', message: 'internal error' });
    }
  }

  return createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text || '{}');
  } catch {
    throw new VenueError(400, 'INVALID_REQUEST');
  }
}
