import { formatAmount } from '../amounts.ts';
import type { NewParticipation } from '../participations.ts';
import type {
  Eligibility,
  ErrorBody,
  Offer,
  OfferDetails,
  OfferRequirements,
  OptionAddress,
  Participation,
  Requirement,
  RequirementStatus,
  TokenizedSwapQuote,
} from '../wire.ts';
import { offerFixture, participationFixture } from './fixtures.ts';

/** The mock service's data. Tests may change it at any time. */
export type MockState = {
  offers: OfferDetails[];
  /** Requirements by option id. An option without requirements is open to everyone. */
  requirements: Record<string, Requirement[]>;
  /** Statuses by requirement id. Default: `completed`. */
  statuses: Record<string, RequirementStatus>;
  participations: Participation[];
  wallets: OptionAddress[];
  /** The signed-in user; null if nobody is signed in. */
  user: { id: string; email: string } | null;
  /** `balance` and `allowance` are in smallest units. They are the same for every token and address. */
  balance: string;
  allowance: string;
  /** The price of tokenized assets in dollars. */
  price: string;
  isMarketOpen: boolean;
};

export type MockService = {
  state: MockState;
  /** Answers a request to the service, or to your app's session or token route. */
  respond(request: Request): Promise<Response>;
  /** A `fetch` function that calls the mock. Pass it to `createCauseway` instead of intercepting requests. */
  fetch: typeof fetch;
};

type Call = { id: string; query: URLSearchParams; body: unknown };
type Route = readonly [
  method: string,
  path: RegExp,
  reply: (state: MockState, call: Call) => object | undefined,
];

const ROUTES: readonly Route[] = [
  ['GET', /^\/v1\/offers$/, ({ offers }) => listOf(offers.map(toSummary))],
  ['GET', /^\/v1\/offers\/([^/]+)$/, ({ offers }, { id }) => findOffer(offers, id)],
  ['GET', /^\/v1\/offers\/([^/]+)\/requirements$/, (state, { id }) => requirementsOf(state, id)],
  ['GET', /^\/v1\/offers\/([^/]+)\/requirements\/statuses$/, (state, { id }) => statusesOf(state, id)],
  ['GET', /^\/v1\/offers\/([^/]+)\/eligibility$/, (state, { id }) => eligibilityOf(state, id)],
  ['GET', /^\/v1\/offers\/([^/]+)\/addresses$/, ({ wallets }) => listOf(wallets)],
  ['GET', /^\/v1\/participations$/, ({ participations }) => listOf(participations)],
  ['POST', /^\/v1\/participations$/, (state, { body }) => participate(state, body as NewParticipation)],
  ['GET', /^\/v1\/participations\/([^/]+)$/, (state, call) => findById(state.participations, call.id)],
  ['GET', /^\/v1\/token\/balance$/, ({ balance }) => ({ object: 'token_balance', balance })],
  ['GET', /^\/v1\/token\/allowance$/, ({ allowance }) => ({ object: 'token_allowance', allowance })],
  ['GET', /^\/v1\/wallet\/authorized$/, () => ({ object: 'wallet_authorization', authorized: true })],
  ['GET', /^\/v1\/swap\/status$/, () => ({ object: 'swap_status', stopped: '0', swap_level: '1' })],
  ['GET', /^\/v1\/tokenized\/swap\/quote$/, (state, { query }) => quoteOf(state, query)],
  [
    'GET',
    /^\/v1\/tokenized\/swap\/trading-status$/,
    ({ isMarketOpen }, { query }) => ({
      ...{ object: 'tokenized_swap_trading_status', side: query.get('side'), tradable: isMarketOpen },
      ...{ gross_max_notional_value: null, gross_max_tokens: null, gross_max_active_notional_value: null },
    }),
  ],
];
const TYPES = ['platform::token_sale', 'fund::swap', 'tokenized::swap'] as const;
const SESSION = /\/session$/;
const TOKEN = /\/token$/;
const TOKEN_TTL_SECONDS = 900;

/**
 * Creates an in-memory service for testing your own pages. It has a signed-in user, offers, requirements,
 * participations, balances and quotes. It validates no input and has no chain. To test purchases, use a sandbox with
 * `createSandboxClient`.
 *
 * @example
 * ```ts
 * import { createCauseway } from '@causeway/sdk';
 * import { createMockService, offerFixture } from '@causeway/sdk/testing';
 *
 * const mock = createMockService({ offers: [offerFixture('fund::swap')] });
 * const causeway = createCauseway({ baseUrl: 'https://api.test', accessToken: 't', fetch: mock.fetch });
 * console.log((await causeway.offers.list()).data.length);
 * ```
 */
export function createMockService(changes: Partial<MockState> = {}): MockService {
  const state: MockState = {
    offers: TYPES.map((type) => offerFixture(type)),
    ...{ requirements: {}, statuses: {}, participations: [], wallets: [] },
    user: { id: 'user-1', email: 'investor@example.com' },
    ...{ balance: '1000000000', allowance: '0', price: '200', isMarketOpen: true, ...changes },
  };
  const respond = async (request: Request): Promise<Response> => {
    const { pathname, searchParams: query } = new URL(request.url);
    if (!pathname.startsWith('/v1/')) return sessionReply(state, pathname);
    if (state.user === null) return failure(401, 'unauthorized', 'Nobody is signed in.');
    for (const [method, path, reply] of ROUTES) {
      const match = request.method === method ? path.exec(pathname) : null;
      if (match === null) continue;
      const body: unknown = method === 'POST' ? await request.json() : undefined;
      const found = reply(state, { id: decodeURIComponent(match[1] ?? ''), query, body });
      return found === undefined ? failure(404, 'not_found', 'Not found.') : Response.json(found);
    }
    return failure(404, 'not_found', `The mock service has no ${request.method} ${pathname}.`);
  };
  return { state, respond, fetch: (input, init) => respond(new Request(input, init)) };
}

function sessionReply({ user }: MockState, pathname: string): Response {
  if (SESSION.test(pathname))
    return Response.json(user === null ? { signed_in: false } : { signed_in: true, user, scope: 'openid' });
  if (!TOKEN.test(pathname) || user === null) return failure(401, 'not_signed_in', 'Nobody is signed in.');
  const expires_at = Date.now() + TOKEN_TTL_SECONDS * 1000;
  return Response.json({ access_token: 'mock', expires_in: TOKEN_TTL_SECONDS, expires_at });
}

function failure(status: number, code: string, message: string): Response {
  const body: ErrorBody = { type: 'api_error', code, message, errors: {}, event_id: 'mock' };
  return Response.json(body, { status });
}

const listOf = <Item>(data: Item[]) => ({ object: 'list', data });

const findById = <Item extends { id: string }>(items: readonly Item[], id: string) =>
  items.find((item) => item.id === id);

function findOffer(offers: readonly OfferDetails[], idOrSlug: string): OfferDetails | undefined {
  return offers.find(({ id, slug }) => id === idOrSlug || slug === idOrSlug);
}

function toSummary({ id, slug, type, tagline, ...offer }: OfferDetails): Offer {
  const { starts_at, ends_at, logo_url, banner_url, options } = offer;
  return { object: 'offer', id, slug, type, tagline, starts_at, ends_at, logo_url, banner_url, options };
}

function requirementsOf({ offers, requirements }: MockState, id: string): OfferRequirements | undefined {
  const offer = findOffer(offers, id);
  if (offer === undefined) return undefined;
  const options = offer.options.map((option) => [option.id, listOf(requirements[option.id] ?? [])]);
  return { object: 'offer_requirements', offer_id: offer.id, options: Object.fromEntries(options) };
}

function statusesOf(state: MockState, id: string) {
  const offer = findOffer(state.offers, id);
  const all = offer?.options.flatMap((option) => state.requirements[option.id] ?? []) ?? [];
  const statuses = all.map((one) => [one.id, state.statuses[one.id] ?? 'completed']);
  if (offer === undefined) return undefined;
  return { object: 'requirement_statuses', offer_id: offer.id, statuses: Object.fromEntries(statuses) };
}

function eligibilityOf(state: MockState, id: string): Eligibility | undefined {
  const offer = findOffer(state.offers, id);
  if (offer === undefined) return undefined;
  const options = offer.options.map((option) => {
    const checks = (state.requirements[option.id] ?? []).map((one) => {
      const isMet = (state.statuses[one.id] ?? 'completed') === 'completed';
      return {
        ...{ object: 'check' as const, code: one.type, requirement_id: one.id, message: '', until: null },
        ...{ status: isMet ? ('passed' as const) : ('action_needed' as const), next: null },
      };
    });
    const eligible = checks.every(({ status }) => status === 'passed');
    return { object: 'option_eligibility' as const, offer_option_id: option.id, eligible, checks };
  });
  const eligible = options.some((option) => option.eligible);
  return { object: 'eligibility', offer_id: offer.id, eligible, options };
}

function participate(state: MockState, body: NewParticipation): Participation | undefined {
  const offer = findOffer(state.offers, body.offer_id);
  const asset = offer?.funding_assets[0];
  if (offer === undefined || asset === undefined) return undefined;
  const { offer_option_id, chain, wallet_address, amount } = body;
  const created = participationFixture({
    ...{ id: `participation-${state.participations.length + 1}`, offer_id: offer.id, status: 'prepared' },
    ...{ offer_option_id, chain, wallet_address, amount, asset },
    amount_string: formatAmount(amount, asset.fractional_digits),
  });
  state.participations.unshift(created);
  return created;
}

function quoteOf({ offers, price }: MockState, query: URLSearchParams): TokenizedSwapQuote | undefined {
  const symbol = query.get('symbol') ?? '';
  const offer = offers.find(({ type, asset }) => type === 'tokenized::swap' && asset.code === symbol);
  if (offer === undefined) return undefined;
  const { fractional_digits: decimals } = offer.asset;
  const tokens = Number(query.get('token_amount') ?? Number(query.get('notional_value')) / Number(price));
  return {
    ...{ object: 'tokenized_swap_quote', chain_id: '11155111', symbol, ticker: symbol, price },
    ...{ asset_address: offer.contracts[0]?.asset_address ?? '', asset_decimals: decimals },
    side: query.get('side') === 'sell' ? 'sell' : 'buy',
    token_base_units: `${BigInt(Math.round(tokens * 1e6)) * 10n ** BigInt(decimals - 6)}`,
  };
}
