import { createHash, randomBytes } from 'node:crypto';
import { signHash } from '@causeway/service/chain/evm/secp256k1.ts';
import { type Hex, hashMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { benchContext } from './context.ts';
import { serveMix } from './mix-server.ts';
import { inBatches, type MixUser, mixSettings, mixWorld, type Outside } from './mix-world.ts';
import type { Mix } from './timed-load.ts';
import type { WalletTarget } from './wallet-load.ts';

const CHAIN = 'ethereum_sepolia';
const WALLETS_PER_USER = 5;
/** The service's limit per user on participations whose approval is not on the chain yet. */
const PARTICIPATIONS_PER_USER = 5;

const outside = JSON.parse(process.argv[2] ?? '') as Outside;
const collectorUrl = process.argv[3];
const traces = collectorUrl === undefined ? null : { url: collectorUrl, headers: {}, ratio: 0.01 };
const { ctx, databaseUrl, dataDir } = await benchContext({ ...mixSettings(outside), traces });
const { users, offers } = await mixWorld(ctx, outside);
const [open, gated] = offers;
const { app, url } = await serveMix(ctx);
const wallets: WalletTarget = {
  ...{ url, tokens: users.map(({ token }) => token) },
  ...{ offerId: open?.id ?? '', optionId: open?.option ?? '' },
};
process.send?.({ url, mix: await buildMix(), wallets, databaseUrl, dataDir });

/**
 * Builds the requests that partners send while their users browse, check their progress and invest. Most requests are
 * reads, and about one in ten is a write. Some requests contain typical integration mistakes.
 */
async function buildMix(): Promise<Mix> {
  const each = (of: (user: MixUser) => string): string[] => users.map(of);
  const reads = (path: string) => each(({ token }) => request('GET', path, bearer(token)));
  const body = (user: MixUser, members: object) => ({
    ...{ client_id: user.clientId, client_secret: user.clientSecret },
    ...members,
  });
  const challenge = { wallet_address: newWallet('shown').address, chain: CHAIN };
  return {
    'offers.list': { weight: 14, requests: reads('/v1/offers') },
    'offers.get': { weight: 10, requests: reads(`/v1/offers/${gated?.id}`) },
    'requirements.list': { weight: 5, requests: reads(`/v1/offers/${gated?.id}/requirements`) },
    'statuses.list': { weight: 15, requests: reads(`/v1/offers/${gated?.id}/requirements/statuses`) },
    'addresses.list': { weight: 5, requests: reads(`/v1/offers/${open?.id}/addresses`) },
    'participations.list': { weight: 10, requests: reads('/v1/participations') },
    'events.list': { weight: 10, requests: reads('/v1/events') },
    'orders.list': { weight: 3, requests: reads('/v1/tokenized/swap/orders') },
    'quotes.get': {
      weight: 8,
      requests: reads('/v1/tokenized/swap/quote?symbol=AAPLon&side=buy&notional_value=100'),
    },
    'challenges.create': {
      weight: 3,
      requests: each(({ token }) => request('POST', '/v1/wallet-ownership', bearer(token), challenge)),
    },
    'challenges.create, with a key': {
      weight: 2,
      requests: each(({ token }) =>
        request('POST', '/v1/wallet-ownership', { ...bearer(token), 'idempotency-key': '{n}' }, challenge),
      ),
    },
    'challenges.create, repeated': {
      weight: 2,
      requests: each(({ token }) =>
        request('POST', '/v1/wallet-ownership', { ...bearer(token), 'idempotency-key': 'same' }, challenge),
      ),
    },
    'addresses.connect': { weight: 1, substitute: 'challenges.create', requests: await connections() },
    'participations.create': { weight: 1, substitute: 'challenges.create', requests: await participations() },
    'tokens.refresh': {
      weight: 2,
      substitute: 'tokens.introspect',
      requests: users.flatMap((user) =>
        user.refreshTokens.map((refresh_token) =>
          request('POST', '/oauth/token', {}, body(user, { grant_type: 'refresh_token', refresh_token })),
        ),
      ),
    },
    'tokens.introspect': {
      weight: 4,
      requests: each((user) => request('POST', '/oauth/introspect', {}, body(user, { token: user.token }))),
    },
    'unknown token': {
      weight: 2,
      status: 401,
      requests: [request('GET', '/v1/offers', bearer('unknown'))],
    },
    'unknown participation': { weight: 2, status: 404, requests: reads('/v1/participations/unknown') },
    'invalid body': {
      weight: 1,
      status: 422,
      requests: each(({ token }) => request('POST', '/v1/participations', bearer(token), {})),
    },
  };
}

/** Returns requests that each connect a different wallet, with a signed challenge. */
async function connections(): Promise<string[]> {
  const connect = async ({ userId, token }: MixUser, n: number) => {
    const wallet = newWallet(`${userId} ${n}`);
    const wanted = { wallet_address: wallet.address, chain: CHAIN };
    const reply = await app.inject({
      ...{ method: 'POST', url: '/v1/wallet-ownership', headers: bearer(token), payload: wanted },
    });
    const signature = signHash(wallet.key, hashMessage(reply.json<{ message: string }>().message));
    const body = { ...wanted, offer_option_id: open?.option, signature };
    return request('POST', `/v1/offers/${open?.id}/addresses`, bearer(token), body);
  };
  const all: string[] = [];
  for (let n = 0; n < WALLETS_PER_USER; n++)
    all.push(...(await inBatches(users, (user) => connect(user, n))));
  return all;
}

/** Returns requests that each create a participation whose approval is not on the chain yet. */
async function participations(): Promise<string[]> {
  const payers = users.map(({ userId }) => newWallet(`${userId} payer`).address);
  await ctx.db
    .insertInto('wallet_proofs')
    .values(
      users.map(({ userId, partnerId }, at) => ({
        ...{ partner_id: partnerId, user_id: userId, address: payers[at] ?? '', chain: '*' },
        ...{ protocol: 'ethereum', kind: 'key', text: null, signature: null },
        proved_at: new Date().toISOString(),
      })),
    )
    .execute();
  const of = ({ token }: MixUser, at: number) => {
    const body = {
      ...{ offer_id: open?.id, offer_option_id: open?.option, chain: CHAIN, wallet_address: payers[at] },
      ...{ amount: '5000000', asset_id: 'usd-coin' },
      approval_transaction_hash: `0x${randomBytes(32).toString('hex')}`,
    };
    return request('POST', '/v1/participations', bearer(token), body);
  };
  return Array.from({ length: PARTICIPATIONS_PER_USER }, () => users.map(of)).flat();
}

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function request(method: string, path: string, headers: Record<string, string>, body?: object): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const sent = {
    host: new URL(url).host,
    ...headers,
    ...(body !== undefined && { 'content-type': 'application/json', 'content-length': String(text.length) }),
  };
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${text}`;
}

function newWallet(name: string): { key: Hex; address: string } {
  const key: Hex = `0x${createHash('sha256').update(name).digest('hex')}`;
  return { key, address: privateKeyToAccount(key).address.toLowerCase() };
}
