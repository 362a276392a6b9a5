import { timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { readBody } from '../body.ts';
import { type Fault, misbehave } from '../fault.ts';
import { createDesk, type VenueChain } from './attest.ts';
import { createMarket, VenueError } from './market.ts';
import { createReads } from './reads.ts';
import type { VenueStore } from './state.ts';

export type VenueOptions = {
  store: VenueStore;
  chain: VenueChain;
  fault: Fault;
  now(): number;
  /** Whether the manager has executed an attestation. */
  isExecuted(attestationId: string): Promise<boolean>;
};

const BODY_LIMIT = 65_536;
const ADDRESSES = /^\/v1\/assets\/([^/]+)\/addresses$/;
const LATEST = /^\/v1\/assets\/([^/]+)\/prices\/latest$/;

/** The venue's own wire contract, so that the service's adapter cannot tell the difference. */
export function createVenueServer({ store, chain, fault, now, isExecuted }: VenueOptions): Server {
  const market = createMarket(store, chain.deployment.assets, now);
  const desk = createDesk(store, market, chain, now);
  const reads = createReads(market, chain, now);

  /** Executed ones count for their session, expired ones give their room back. */
  async function sweep(): Promise<void> {
    const { state } = store;
    const before = state.live.length;
    const live = [...state.live];
    const outcomes = await Promise.all(live.map(({ id }) => isExecuted(id)));
    for (const [place, attestation] of live.entries()) {
      const executed = outcomes[place] === true;
      if (!executed && attestation.expiration * 1000 >= now()) continue;
      const index = state.live.indexOf(attestation);
      if (index === -1) continue;
      state.live.splice(index, 1);
      const { session, symbol, notional } = attestation;
      if (executed) state.executed = [...state.executed.slice(-999), { session, symbol, notional }];
    }
    if (state.live.length !== before) store.save();
  }

  async function answer(method: string, url: URL, body: unknown): Promise<unknown> {
    const route = `${method} ${url.pathname}`;
    switch (route) {
      case 'POST /v1/attestations/soft':
        return desk.quote(body);
      case 'POST /v1/attestations':
        await sweep();
        return desk.attest(body);
      case 'GET /v1/limits/trading':
        await sweep();
        return reads.tradingLimits(url.searchParams);
      case 'GET /v1/limits/session':
        return reads.sessionLimits(url.searchParams);
      case 'GET /v1/status/market':
        return reads.marketStatus();
      case 'GET /v1/status/assets':
        return reads.assetEvents();
    }
    const addresses = method === 'GET' ? ADDRESSES.exec(url.pathname)?.[1] : undefined;
    if (addresses !== undefined) return reads.addresses(decodeURIComponent(addresses));
    const latest = method === 'GET' ? LATEST.exec(url.pathname)?.[1] : undefined;
    if (latest !== undefined) return reads.latestPrice(decodeURIComponent(latest));
    throw new VenueError(404, 'RESOURCE_NOT_FOUND');
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (await misbehave(fault, request, response)) return;
    const text = await readBody(request, BODY_LIMIT);
    // The gateway in front of the venue answers like this, and not as its documentation says.
    if (!hasKey(request, store.state.api_key)) return reply(response, 403, { message: 'Forbidden' });
    try {
      const url = new URL(request.url ?? '/', 'http://venue');
      reply(response, 200, await answer(request.method ?? 'GET', url, parse(text)));
    } catch (error) {
      if (error instanceof VenueError)
        return reply(response, error.status, { code: error.code, message: error.message });
      reply(response, 500, { code: 'INTERNAL_ERROR', message: 'internal error' });
    }
  }

  return createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
}

function hasKey({ headers }: IncomingMessage, key: string): boolean {
  const given = Buffer.from(String(headers['x-api-key'] ?? ''));
  const expected = Buffer.from(key);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function parse(text: string | undefined): unknown {
  try {
    return JSON.parse(text || '{}');
  } catch {
    throw new VenueError(400, 'INVALID_REQUEST');
  }
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
