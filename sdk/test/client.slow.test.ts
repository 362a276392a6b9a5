import { inspect } from 'node:util';
import type { Hex } from 'viem';
import { assert, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import {
  type Call,
  type Causeway,
  CausewayError,
  createCauseway,
  describeStatus,
  isCausewayError,
  type OfferDetails,
} from '../src/index.ts';
import { partnerClient, verifyWebhook } from '../src/server/index.ts';
import { type Sandbox, useSandbox } from './sandbox.ts';

let sandbox: Sandbox;
let causeway: Causeway;
let token: string;
let email: string;
let sale: OfferDetails;
const calls: Call[] = [];
const secrets: string[] = [];

beforeAll(async () => {
  sandbox = await useSandbox();
  ({ email } = await sandbox.newUser());
  token = (await sandbox.tokens(email)).access_token;
  causeway = createCauseway({
    baseUrl: `${sandbox.url}/`,
    accessToken: token,
    onCall: (call) => void calls.push(call),
  });
  const levels = ['Sorting_KYC_Level', 'BasicKYCLevel'];
  for (const level_name of levels)
    await sandbox.control('/sandbox/identity/reviews', { email, level_name, answer: 'GREEN', pii: PII });
  await sandbox.control('/sandbox/venue', { session: 'regular' });
  sale = await causeway.offers.get('harbour-quarter');
}, 180_000);

const PII = {
  ...{ first_name: 'Ottoline', last_name: 'Quennell', date_of_birth: '1990-02-03', tax_id: '77-123-9981' },
  address: { street: '5 Rue Vieille', city: 'Lyon', state: 'ARA', postal_code: '69002', country: 'FR' },
};
const chain = 'ethereum_sepolia';
const option = (slug: string) => sale.options.find((one) => one.slug === slug)?.id ?? '';
const usdc = () =>
  sandbox.overview.chains[0]?.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address ?? '0x';
const wallet = (index: number) => sandbox.overview.wallets[index]?.address ?? '';

/** Signs a challenge and returns the body for the endpoints that need a proof of ownership. */
async function prove(index: number) {
  const { message } = await causeway.wallets.challenge({ wallet_address: wallet(index), chain });
  const signature = await sandbox.sign(index, message);
  secrets.push(signature);
  return { wallet_address: wallet(index), chain, signature } as const;
}

describe('every client method works against the sandbox', () => {
  test('offers and requirements', async () => {
    expect((await causeway.offers.list()).data.map(({ slug }) => slug)).toContain('treasury-fund');
    expect(sale.object).toBe('offer_details');
    const requirements = await causeway.requirements.list(sale.id);
    const list = requirements.options[option('accredited')]?.data ?? [];
    expect(list.length).toBe(7);
    const statuses = await causeway.requirements.statuses(sale.id);
    const basic = list.find(({ type }) => type === 'kyc_approved')?.id ?? '';
    expect(describeStatus(statuses.statuses[basic]).status).toBe('completed');
    expect(describeStatus(undefined).status).toBe('not_started');
  });

  test('events: list, get, stream, and webhooks that verify', async () => {
    const partner = partnerClient({
      ...{ baseUrl: sandbox.url, clientId: sandbox.overview.partner.client_id },
      clientSecret: sandbox.overview.partner.client_secret,
    });
    const newest = (await partner.events.list({ limit: 1 })).data[0];
    expect(await partner.events.get(newest?.id ?? '')).toEqual(newest);
    const inbox = await sandbox.control<{ id: string; url: string }>('/sandbox/inbox', {});
    const bearer = `Bearer ${(await sandbox.partnerToken()).access_token}`;
    const post = async (path: string, body: object) => {
      const headers = { authorization: bearer, 'content-type': 'application/json' };
      return (
        await fetch(sandbox.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      ).json();
    };
    const endpoint = (await post('/v1/webhook-endpoints', {
      url: inbox.url,
      types: ['document_submission.*'],
    })) as {
      id: string;
      secret: string;
    };
    const stop = new AbortController();
    const streamed: string[] = [];
    const following = (async () => {
      for await (const event of causeway.events.stream({ signal: stop.signal })) streamed.push(event.type);
    })();
    await sandbox.control('/sandbox/identity/reviews', {
      email,
      level_name: 'Sorting_KYC_Level',
      answer: 'GREEN',
      pii: PII,
    });
    await causeway.documents.submit('tax_certification', {});
    const mine = {
      filters: [
        { field: 'type', op: 'in', value: ['document_submission.initialized', 'document_submission.sent'] },
      ],
    } as const;
    await expect
      .poll(() => streamed.filter((type) => type.startsWith('document_submission.')), { timeout: 10_000 })
      .toEqual(['document_submission.initialized', 'document_submission.sent']);
    stop.abort();
    await following;
    const listed: string[] = [];
    for await (const event of partner.events.list({ after: newest?.id, limit: 1, ...mine }))
      listed.push(event.id);
    expect(listed).toHaveLength(2);
    type Received = { requests: { headers: Record<string, string>; body: string }[] };
    const received = async () =>
      ((await (await fetch(`${sandbox.url}/sandbox/inbox/${inbox.id}`)).json()) as Received).requests;
    await expect.poll(async () => (await received()).length, { timeout: 10_000 }).toBe(2);
    const verified = await Promise.all(
      (await received()).map(({ headers, body }) =>
        verifyWebhook({ headers, body, secret: endpoint.secret }),
      ),
    );
    expect(verified.map(({ id }) => id)).toEqual(listed);
  });

  test('wallets: challenge, bind, list, remove, allow', async () => {
    const bound = await causeway.wallets.bind(sale.id, {
      ...(await prove(0)),
      offer_option_id: option('syndicate'),
    });
    expect(bound.address).toBe(wallet(0));
    const listed = await causeway.wallets.list(sale.id, { offer_option_id: option('syndicate') });
    expect(listed.data).toEqual([bound]);
    expect((await causeway.wallets.remove(sale.id, bound.id)).id).toBe(bound.id);
    expect((await causeway.wallets.list(sale.id)).data).toEqual([]);
    const fund = await causeway.offers.get('treasury-fund');
    const allowance = await causeway.wallets.allow(fund.id, await prove(0));
    expect(allowance).toMatchObject({ action: 'broadcast_transaction' });
  });

  test('participations: create, get, list', async () => {
    const spender = sale.contracts.find((one) => one.chain === chain)?.address as Hex;
    const amount = 1_000_000_000n;
    await causeway.wallets.bind(sale.id, { ...(await prove(1)), offer_option_id: option('public') });
    const created = await causeway.participations.create({
      ...{ offer_id: sale.id, offer_option_id: option('public'), chain, wallet_address: wallet(1) },
      ...{ amount: String(amount), asset_id: 'usd-coin' },
      approval_transaction_hash: await sandbox.approve(1, usdc(), spender, amount),
    });
    expect((await causeway.participations.get(created.id)).amount_string).toBe('1000');
    expect((await causeway.participations.list()).data.map(({ id }) => id)).toEqual([created.id]);
  });

  test('identity: KYC token, personal data, a form to sign', async () => {
    expect((await causeway.kyc.token()).token).not.toBe('');
    expect((await causeway.pii.get()).kind).toBe('person');
    const submission = await causeway.documents.submit('tax_certification', {
      'Full Name': 'Ottoline Quennell',
      Country: 'France',
    });
    expect(submission.form_type).toBe('w8_ben');
  });

  test('swaps and tokens', async () => {
    const fund = await causeway.offers.get('treasury-fund');
    const contract_address = fund.contracts.find((one) => one.chain === chain)?.address ?? '';
    const contract = { contract_address, chain } as const;
    const preview = await causeway.swap.preview({ ...contract, input_token: usdc(), amount: '1000000' });
    expect(preview.object).toBe('swap_preview');
    expect((await causeway.swap.outputToken(contract)).object).toBe('swap_output_token');
    expect((await causeway.swap.status(contract)).stopped).toBe('0');
    const { authorized } = await causeway.swap.authorized({ ...contract, wallet_address: wallet(0) });
    expect(authorized).toBe(false);
    const holding = { token_address: usdc(), owner: wallet(0), chain } as const;
    expect(BigInt((await causeway.token.balance(holding)).balance)).toBeGreaterThan(0n);
    expect((await causeway.token.allowance({ ...holding, spender: contract_address })).allowance).toBe('0');
  });

  test('tokenized: quote, trading status, transaction', async () => {
    const query = { symbol: 'AAPLon', side: 'buy' } as const;
    expect(
      Number((await causeway.tokenized.quote({ ...query, notional_value: '100' })).price),
    ).toBeGreaterThan(0);
    expect((await causeway.tokenized.tradingStatus(query)).tradable).toBe(true);
    await causeway.wallets.bind(sale.id, { ...(await prove(2)), offer_option_id: option('public') });
    const order = { amount: '100500000', chain, symbol: 'AAPLon', wallet_address: wallet(2) } as const;
    const error = await causeway.tokenized.transaction(order).catch((reason) => reason);
    assert(isCausewayError(error, 'insufficient_allowance'));
    expect(error.status).toBe(422);
    const { required, allowance, spender, token } = error.errors;
    expect([required, allowance, token]).toEqual(['100500000', '0', usdc().toLowerCase()]);
    await sandbox.approve(2, usdc(), spender as Hex, 100_500_000n);
    expect((await causeway.tokenized.transaction(order)).data).toMatch(/^0x/);
  });
});

describe('lists', () => {
  test('iterate over every item of every page', async () => {
    const all = (await causeway.offers.list({ limit: 100 })).data.map(({ id }) => id);
    expect(all.length).toBeGreaterThan(4);
    const iterated: string[] = [];
    for await (const { id } of causeway.offers.list({ limit: 2 })) iterated.push(id);
    expect(iterated).toEqual(all);
    const sizes: number[] = [];
    for await (const { data } of causeway.offers.list({ limit: 2 }).pages()) sizes.push(data.length);
    expect(sizes).toEqual([...Array(Math.floor(all.length / 2)).fill(2), ...(all.length % 2 ? [1] : [])]);
  });

  test('request no further page once the caller stops', async () => {
    const before = calls.length;
    for await (const _ of causeway.offers.list({ limit: 1 })) break;
    expect(calls.length - before).toBe(1);
  });

  test('accept filters', async () => {
    const notFailed = { field: 'status', op: '!=', value: 'failed' } as const;
    const ofSale = { field: 'offer_id', op: 'in', value: [sale.id, crypto.randomUUID()] } as const;
    const ofNoOffer = { field: 'offer_id', op: '==', value: crypto.randomUUID() } as const;
    expect((await causeway.participations.list({ filters: [notFailed, ofSale] })).data.length).toBe(1);
    expect((await causeway.participations.list({ filters: [ofNoOffer] })).data).toEqual([]);
  });
});

describe('errors', () => {
  test('have details that are typed by their code', async () => {
    const error = await causeway.events
      .list({ after: crypto.randomUUID() })
      .catch((reason: unknown) => reason);
    assert(isCausewayError(error, 'validation_failed'));
    expectTypeOf(error.errors).toEqualTypeOf<Record<string, unknown> & Record<string, string[]>>();
    expect(error.errors.after).toEqual(['is not the id of an event']);
  });

  test('have the code, the status and the request id', async () => {
    const error = await causeway.offers.get(crypto.randomUUID()).catch((error) => error);
    expect(error).toBeInstanceOf(CausewayError);
    expect(isCausewayError(error, 'not_found')).toBe(true);
    expect(isCausewayError(error, 'rate_limited')).toBe(false);
    expect(error.status).toBe(404);
    expect(error.eventId).toBe(calls.at(-1)?.requestId);
    const invalid = await causeway.offers.list({ limit: 1000 }).catch((error) => error);
    expect([invalid.code, Object.keys(invalid.errors)]).toEqual(['validation_failed', ['limit']]);
  });

  test('of a rejected token are thrown if there is no token to replace it', async () => {
    const unauthorized = createCauseway({ baseUrl: sandbox.url, accessToken: 'invalid' });
    await expect(unauthorized.pii.get()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
  });
});

test('reported calls, errors and the logged client contain no token, signature or personal data', async () => {
  await causeway.participations.list({ filters: [{ field: 'user_email', op: '==', value: email }] });
  const errors = [
    await causeway.offers.get('nope').catch((error) => error),
    await causeway.wallets
      .bind(sale.id, {
        ...(await prove(3)),
        signature: `0x${'5e'.repeat(65)}`,
        offer_option_id: option('syndicate'),
      })
      .catch((error) => error),
    await causeway.documents
      .submit('tax_certification', { 'Full Name': 'Ada Lovelace', Country: 'United States' })
      .catch((error) => error),
    await createCauseway({ baseUrl: 'http://127.0.0.1:1', accessToken: token, retries: 0 })
      .pii.get()
      .catch((error) => error),
  ];
  expect(errors.every((error) => error instanceof CausewayError)).toBe(true);
  const logged = [
    JSON.stringify(calls),
    ...errors.flatMap((error) => [JSON.stringify(error), inspect(error, { depth: 9, showHidden: true })]),
    inspect(causeway, { depth: 9, showHidden: true }),
    JSON.stringify(causeway),
  ].join('\n');
  const { address, ...person } = PII;
  secrets.push(token, (await causeway.kyc.token()).token, '5e'.repeat(65), email, encodeURIComponent(email));
  secrets.push(...Object.values(person), address.street, address.city, address.postal_code);
  expect(logged).toContain('"path":"/v1/pii"');
  expect(logged).toContain('"signature":"[redacted]"');
  for (const secret of secrets) expect(logged).not.toContain(secret);
});
