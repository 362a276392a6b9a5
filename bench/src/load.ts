import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createWalletClient, erc20Abi, type Hex, http, maxUint256 } from 'viem';
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { percentile, printRow, saturate } from './compare.ts';
import { type Outcome, type Request, sendAtRate } from './open-loop.ts';
import { CHAIN, startSandbox } from './sandbox.ts';

// A sandbox with the limits of a production node, on whatever cores there are. Its database, its simulators and the
// requests share these cores.

const ORDERS_PER_SECOND = 20;
const MIX_PER_SECOND = 600;
const OTHERS_PER_SECOND = 50;
const WARM_UP_SECONDS = 5;
const SECONDS = 10;
const USERS = 40;
const REFRESH_TOKENS_PER_USER = 6;

const { url, stop, ...sandbox } = await startSandbox({
  MAX_EVENT_LOOP_LAG_MS: '200',
  MAX_POOL_WAIT_MS: '1000',
});
const { chains, offers, partner, other_partner: otherPartner } = await sandbox.overview();
const chain = chains.find((each) => each.chain === CHAIN);
const credentials = { client_id: partner.client_id, client_secret: partner.client_secret };
const sale = offerOf('harbour-quarter');
const apple = offerOf('apple-tokenized');
await measureOrders();
await measureMix();
await measureFlood();
await stop();

/** Orders at the venue. Each comes from another wallet, because a wallet has one open order per asset. */
async function measureOrders(): Promise<void> {
  const headers = bearer(await tokenOf(await sandbox.createUser()));
  const { contracts } = await call<{ contracts: { chain: string; address: Hex }[] }>(
    get(`/v1/offers/${apple.id}`, headers),
  );
  const spender = contracts.find((each) => each.chain === CHAIN)?.address ?? '0x';
  const count = ORDERS_PER_SECOND * (WARM_UP_SECONDS + SECONDS);
  const wallets = await inBatches(Array.from({ length: count }), async () => {
    const account = await connectWallet(headers, apple);
    await fundWallet(account, spender);
    return account.address;
  });
  const next = () =>
    post(
      '/v1/tokenized/swap/transaction',
      { ...headers, 'idempotency-key': randomUUID() },
      { amount: '10050000', chain: CHAIN, symbol: 'AAPLon', wallet_address: take(wallets) },
    );
  await sendAtRate(url, { rate: ORDERS_PER_SECOND, seconds: WARM_UP_SECONDS, next });
  const outcome = await sendAtRate(url, { rate: ORDERS_PER_SECOND, seconds: SECONDS, next });
  printRow(`orders, ${ORDERS_PER_SECOND} per second`, describe(outcome), 'p99 ≤ 100 ms');
}

/** What partners send while their users browse, check their progress and invest. */
async function measureMix(): Promise<void> {
  const users = await inBatches(Array.from({ length: USERS }), () => sandbox.createUser());
  const tokens = await inBatches(users, (user) => tokenOf(user));
  const payers = await inBatches(tokens, (token) => connectWallet(bearer(token), sale));
  const refreshTokens = await inBatches(
    Array.from({ length: REFRESH_TOKENS_PER_USER }, () => users).flat(),
    async ({ email }) => (await sandbox.issueTokens({ email })).refresh_token,
  );
  let turn = 0;
  const participation = (): Request => {
    const user = turn++ % USERS;
    return post('/v1/participations', bearer(tokens[user]), {
      ...{ offer_id: sale.id, offer_option_id: sale.option, chain: CHAIN, asset_id: 'usd-coin' },
      ...{ wallet_address: payers[user]?.address, amount: '20000000' },
      approval_transaction_hash: `0x${randomBytes(32).toString('hex')}`,
    });
  };
  const refresh = (): Request =>
    post(
      '/oauth/token',
      {},
      { ...credentials, grant_type: 'refresh_token', refresh_token: take(refreshTokens) },
    );
  const quote = (): Request =>
    get('/v1/tokenized/swap/quote?symbol=AAPLon&side=buy&notional_value=100', bearer(tokens[turn++ % USERS]));
  const introspect = (): Request =>
    post('/oauth/introspect', {}, { ...credentials, token: tokens[turn++ % USERS] });
  const next = mixOf([
    ...repeatable(tokens, sale.id),
    ...([
      [8, quote],
      [4, introspect],
      [2, refresh],
      [1, participation],
    ] as Kind[]),
  ]);
  await sendAtRate(url, { rate: MIX_PER_SECOND, seconds: WARM_UP_SECONDS, next });
  const outcome = await sendAtRate(url, { rate: MIX_PER_SECOND, seconds: SECONDS, next });
  printRow(`mixed load, ${MIX_PER_SECOND} requests per second`, describe(outcome), 'p99 ≤ 50 ms');
}

/** One partner sends four times what the node can answer, while the users of another one go on as before. */
async function measureFlood(): Promise<void> {
  const users = await inBatches(Array.from({ length: USERS }), () => sandbox.createUser());
  const flood = mixOf(repeatable(await inBatches(users, (user) => tokenOf(user)), sale.id));
  const others = await inBatches(users, (user) => tokenOf(user, otherPartner.client_id));
  const { data } = await call<{ data: { id: string }[] }>(get('/v1/offers', bearer(others[0])));
  const load = {
    rate: OTHERS_PER_SECOND,
    seconds: SECONDS,
    next: mixOf(repeatable(others, data[0]?.id ?? '')),
  };
  const requests = Array.from({ length: 1_000 }, flood);
  const { answered: peak } = await saturate({ url }, requests, SECONDS);
  const rate = Math.round(4 * peak);
  const alone = p99(await sendAtRate(url, load));
  const [beside, flooded] = await Promise.all([
    sendAtRate(url, load),
    sendAtRate(url, { rate, seconds: SECONDS, next: flood }),
  ]);
  const unanswered = beside.unanswered + flooded.unanswered;
  printRow(
    `${rate} requests per second of one partner, four times what the node can answer`,
    `others' p99 ${(p99(beside) / alone).toFixed(1)}× (${p99(beside)} ms), ${beside.refused} of them refused, ${unanswered} unanswered`,
    'p99 ≤ 3×, 0 unanswered',
    `the same without the flood (${alone} ms)`,
  );
}

type Kind = [weight: number, make: () => Request];

/** Requests that any number of users can repeat: mostly reads, and one write. */
function repeatable(tokens: readonly string[], offerId: string): Kind[] {
  let turn = 0;
  const headers = () => bearer(tokens[turn++ % tokens.length]);
  const challenge = { wallet_address: `0x${'ab'.repeat(20)}`, chain: CHAIN };
  const read = (weight: number, path: string): Kind => [weight, () => get(path, headers())];
  return [
    read(15, '/v1/offers'),
    read(10, `/v1/offers/${offerId}`),
    read(5, `/v1/offers/${offerId}/requirements`),
    read(15, `/v1/offers/${offerId}/requirements/statuses`),
    read(5, `/v1/offers/${offerId}/eligibility`),
    read(5, `/v1/offers/${offerId}/addresses`),
    read(10, '/v1/participations'),
    read(10, '/v1/events'),
    read(4, '/v1/tokenized/swap/orders'),
    [6, () => post('/v1/wallet-ownership', { ...headers(), 'idempotency-key': randomUUID() }, challenge)],
  ];
}

/** Returns a function that makes each kind of request in proportion to its weight, in a mixed order. */
function mixOf(kinds: Kind[]): () => Request {
  const turns = kinds.flatMap(([weight, make]) => Array.from({ length: weight }, () => make));
  let count = 0;
  // 37 has no divisor in common with the number of turns, so every turn comes once.
  return () => turns[(37 * count++) % turns.length]?.() ?? get('/health', {});
}

/** Proves to the service that the user owns a new wallet. */
async function connectWallet(
  headers: Record<string, string>,
  { id, option }: { id: string; option: string },
): Promise<PrivateKeyAccount> {
  const account = privateKeyToAccount(generatePrivateKey());
  const wanted = { wallet_address: account.address, chain: CHAIN };
  const { message } = await call<{ message: string }>(post('/v1/wallet-ownership', headers, wanted));
  const signature = await account.signMessage({ message });
  await call(post(`/v1/offers/${id}/addresses`, headers, { ...wanted, offer_option_id: option, signature }));
  return account;
}

/** Gives the wallet gas and dollars, and lets the contract take the dollars. */
async function fundWallet(account: PrivateKeyAccount, spender: Hex): Promise<void> {
  const { address } = account;
  await sandbox.fund({ address, amount: (10n ** 18n).toString() });
  await sandbox.fund({ address, asset_id: 'usd-coin', amount: '1000000000' });
  const wallet = createWalletClient({ account, chain: sepolia, transport: http(chain?.rpc_url) });
  const token = chain?.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address as Hex;
  const approval = { address: token, abi: erc20Abi, functionName: 'approve' } as const;
  await wallet.writeContract({ ...approval, args: [spender, maxUint256], gas: 100_000n });
}

function offerOf(slug: string): { id: string; option: string } {
  const offer = offers.find((each) => each.slug === slug);
  return { id: offer?.id ?? '', option: offer?.options[0]?.id ?? '' };
}

async function tokenOf({ email }: { email: string }, client_id = partner.client_id): Promise<string> {
  return (await sandbox.issueTokens({ email, client_id })).access_token;
}

function bearer(token = ''): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function get(path: string, headers: Record<string, string>): Request {
  return { method: 'GET', path, headers };
}

function post(path: string, headers: Record<string, string>, body: object): Request {
  const all = { ...headers, 'content-type': 'application/json' };
  return { method: 'POST', path, headers: all, body: JSON.stringify(body) };
}

/** Sends a request of the preparations. Tries again if the node is too busy. */
async function call<T>({ path, ...request }: Request): Promise<T> {
  const reply = await fetch(`${url}${path}`, request);
  if (reply.status === 503) return sleep(1_000).then(() => call({ path, ...request }));
  if (!reply.ok) throw new Error(`${request.method} ${path}: ${await reply.text()}`);
  return (await reply.json()) as T;
}

/** Maps eight items at a time. The results are in the order of the items. */
async function inBatches<T, R>(items: readonly T[], map: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  for (let at = 0; at < items.length; at += 8)
    results.push(...(await Promise.all(items.slice(at, at + 8).map((item) => map(item)))));
  return results;
}

function take<T>(items: T[]): T {
  const item = items.pop();
  if (item === undefined) throw new Error('there are too few single-use requests');
  return item;
}

function describe(outcome: Outcome): string {
  return `p99 ${p99(outcome)} ms, ${outcome.refused} refused, ${outcome.unanswered} unanswered`;
}

function p99({ latencies }: Outcome): number {
  return Math.round(percentile(latencies, 0.99));
}
