import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles, testWallets } from '@causeway/sandbox/seed/keys.ts';
import { nextNonce, transact } from '@causeway/sandbox/simulators/chains/transact.ts';
import { type MailServer, startMailServer } from '@causeway/sandbox/simulators/mail-server.ts';
import { createWalletClient, custom, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openPool } from '../src/platform/db/pool.ts';
import { freePort } from '../src/platform/http/listening.ts';
import { createEmptyDatabase, type TestDatabase } from './setup/database.ts';
import { AUTHORITY } from './support/certificates.ts';
import { startTestChain, type TestChain } from './support/chain.ts';
import { grantRoles, makeFundV2 } from './support/fund-v2.ts';
import { visitOver } from './support/http-visitor.ts';
import { type Providers, startProviders } from './support/providers.ts';
import { runCauseway, startService } from './support/service.ts';
import { PASSWORD } from './support/site.ts';
import { startTlsProxy } from './support/tls-proxy.ts';
import { type Person, personWith } from './support/wallets.ts';

const REDIRECT = 'https://partner.example/callback';
const EMAIL = 'ada@user.test';
const CHAIN = 'ethereum_sepolia';
const AMOUNT = 25_000_000n;
const LEVEL = 'Sorting_KYC_Level';

const folder = mkdtempSync(join(tmpdir(), 'causeway-production-'));
const file = join(folder, 'causeway.env');
const stops: (() => Promise<unknown>)[] = [];
let database: TestDatabase;
let chain: TestChain;
let providers: Providers;
let mailbox: MailServer;
let env: Record<string, string>;
let nodeUrl: string;

const keep = <T>(part: T, stop: (part: T) => Promise<unknown>): T => {
  stops.unshift(() => stop(part));
  return part;
};
const secure = async (target: string) => keep(await startTlsProxy(target), (proxy) => proxy.stop()).port;
const causeway = async (...args: string[]) => {
  const { code, text } = await runCauseway(args, env);
  expect({ args, code, text }).toMatchObject({ code: 0 });
  return text;
};

beforeAll(async () => {
  database = keep(await createEmptyDatabase(), (part) => part.drop());
  chain = keep(await startTestChain(CHAIN, false, () => Math.floor(Date.now() / 1000)), (part) =>
    part.close(),
  );
  providers = keep(await startProviders({ appToken: 'prd:public.private' }), (part) => part.stop());
  mailbox = keep(await startMailServer(join(folder, 'mail.jsonl')), (part) => part.stop());
  writeFileSync(join(folder, 'authority.pem'), AUTHORITY);
});
afterAll(async () => {
  for (const stop of stops) await stop();
  rmSync(folder, { recursive: true });
});

test('init writes a file that only its owner can read, with new secrets, and never overwrites it', async () => {
  const { text } = await runCauseway(['init', file], {});
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const { CAUSEWAY_SECRET = '', OPERATOR_KEY = '' } = parseEnv(readFileSync(file, 'utf8'));
  expect(Buffer.from(CAUSEWAY_SECRET, 'base64')).toHaveLength(32);
  expect(text).toContain(privateKeyToAccount(OPERATOR_KEY as Hex).address);
  expect(text).not.toContain(OPERATOR_KEY);
  const before = readFileSync(file, 'utf8');
  const again = await runCauseway(['init', file], {});
  expect([again.code, again.text]).toEqual([2, expect.stringContaining('never overwrites')]);
  expect(readFileSync(file, 'utf8')).toBe(before);
});

test('no process starts while a placeholder is left, and each one is named', async () => {
  const settings = parseEnv(readFileSync(file, 'utf8')) as Record<string, string>;
  const { code, text } = await runCauseway(['serve'], settings);
  expect(code).toBe(2);
  const left = Object.keys(settings).filter((name) => settings[name]?.includes('CHANGE_ME'));
  expect(left.length).toBeGreaterThan(10);
  for (const name of left) expect(text).toContain(`${name}: still contains CHANGE_ME`);
});

test('production starts from the file with every provider behind TLS', async () => {
  const port = await freePort('127.0.0.1');
  nodeUrl = `http://127.0.0.1:${port}`;
  const { identity, documents } = providers.settings;
  const rpc = new URL((await chain.addNode()).url);
  const answers: Record<string, string> = {
    PUBLIC_URL: `https://localhost:${await secure(nodeUrl)}`,
    DATABASE_URL: database.url,
    SMTP_URL: `smtps://localhost:${await secure(mailbox.smtpUrl)}`,
    MAIL_FROM: 'no-reply@invest.example',
    SUMSUB_URL: `https://localhost:${await secure(String(identity?.url))}`,
    SUMSUB_APP_TOKEN: String(identity?.appToken),
    SUMSUB_SECRET: String(identity?.secret),
    SUMSUB_WEBHOOK_SECRET: String(identity?.webhookSecrets[0]),
    DOCUSEAL_URL: `https://localhost:${await secure(String(documents?.url))}${new URL(String(documents?.url)).pathname}`,
    DOCUSEAL_API_KEY: String(documents?.apiKey),
    DOCUSEAL_TEMPLATE_W8_BEN: String(documents?.templates.w8_ben),
    DOCUSEAL_TEMPLATE_W8_BEN_E: String(documents?.templates.w8_ben_e),
    DOCUSEAL_WEBHOOK_SECRET: String(documents?.webhookSecrets[0]),
    RPC_URL_ETHEREUM_SEPOLIA: `https://localhost:${await secure(rpc.href)}${rpc.pathname}`,
    SANCTIONS: 'none',
    ...{ PORT: String(port), METRICS_PORT: '0' },
  };
  writeFileSync(file, fillIn(readFileSync(file, 'utf8'), answers));
  env = {
    ...(parseEnv(readFileSync(file, 'utf8')) as Record<string, string>),
    NODE_EXTRA_CA_CERTS: join(folder, 'authority.pem'),
  };
  keep(await startService({ ...env, CAUSEWAY_DEMO: '' }), (part) => part.stop());
  const reply = await fetch(`${nodeUrl}/health/ready`);
  expect(await reply.json()).toMatchObject({
    status: 'ok',
    parts: { database: 'ok', [`rpc:${CHAIN}`]: 'ok' },
  });
});

test('a partner and an offer from the command line are enough for a verified user to buy', async () => {
  const operator = privateKeyToAccount(env.OPERATOR_KEY as Hex).address;
  const fund = await makeFundV2(chain);
  await grantRoles(chain, fund, operator);
  await transact(chain.chain, roles.deployer, {
    ...{ to: operator, value: 10n ** 18n, chainId: sepolia.id },
    nonce: await nextNonce(chain.chain, roles.deployer.address),
  });
  const partner = JSON.parse(
    await causeway('partner', 'create', '--name', 'Harbour Invest', '--redirect', REDIRECT),
  );
  writeFileSync(join(folder, 'offer.yaml'), JSON.stringify(offerFile(partner.client_id, fund)));
  await causeway('offer', 'apply', join(folder, 'offer.yaml'), '--yes');
  await causeway('offer', 'publish', 'harbour-sale');

  const accessToken = await signUp(partner);
  const person = personWith(async (method, path, body) => {
    const reply = await fetch(nodeUrl + path, {
      method,
      headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  });
  const { body: offers } = await person.call('GET', '/v1/offers');
  expect(offers).toMatchObject({ data: [{ slug: 'harbour-sale' }] });
  const offer = (offers.data as { id: string; options: { id: string }[] }[])[0];
  const [offerId, optionId] = [offer?.id ?? '', offer?.options[0]?.id ?? ''];
  await verifyIdentity(person);
  const investor = investorOn(chain, fund);
  expect(await person.bind(offerId, optionId, investor)).toMatchObject({ status: 200 });
  const created = await person.call('POST', '/v1/participations', {
    ...{ offer_id: offerId, offer_option_id: optionId, chain: CHAIN, wallet_address: investor.address },
    ...{ amount: String(AMOUNT), asset_id: 'usd-coin', approval_transaction_hash: await investor.approve() },
  });
  expect(created).toMatchObject({ status: 200 });
  const statusOf = async () => {
    await chain.chain.mine(4);
    return (await person.call('GET', `/v1/participations/${created.body.id}`)).body.status;
  };
  await expect.poll(statusOf, { timeout: 60_000, interval: 250 }).toBe('completed');
  expect(await balanceOf(fund)).toBe(AMOUNT);
}, 120_000);

test('doctor finds nothing wrong with it, and prints no secret', async () => {
  const output = await causeway('doctor', '--json');
  const { status, findings } = JSON.parse(output) as { status: string; findings: Record<string, string>[] };
  expect(status).toBe('ok');
  const statusOf = Object.fromEntries(findings.map(({ check = '', status: found }) => [check, found]));
  expect(statusOf).toEqual({
    ...{ settings: 'ok', database: 'ok', 'database TLS': 'ok', clock: 'ok', 'database pool': 'ok' },
    ...{
      migrations: 'ok',
      'open transactions': 'ok',
      notifications: 'ok',
      profile: 'ok',
      secret: 'ok',
      mail: 'ok',
      webhooks: 'ok',
    },
    // A warning, because there is only one RPC provider, whose outage would stop settlement.
    ...{ [`rpc ${CHAIN}`]: 'warning', [`operator ${CHAIN}`]: 'ok', 'public URL': 'ok' },
  });
  for (const name of ['CAUSEWAY_SECRET', 'OPERATOR_KEY', 'SUMSUB_SECRET', 'DOCUSEAL_API_KEY'])
    expect(output).not.toContain(env[name]);
});

/**
 * Replaces the values of settings. Comments out the mainnet RPC endpoints and the sanctions list, which this test does
 * not have.
 */
function fillIn(text: string, answers: Record<string, string>): string {
  const unused = /^(RPC_URL_ETHEREUM_MAINNET|SANCTIONS_FILE)=/gm;
  return Object.entries(answers).reduce(
    (filled, [name, value]) => filled.replace(new RegExp(`^#?${name}=.*$`, 'm'), () => `${name}=${value}`),
    text.replace(unused, '#$1='),
  );
}

function offerFile(clientId: string, fund: Hex) {
  return {
    ...{
      slug: 'harbour-sale',
      type: 'platform::token_sale',
      name: 'Harbour',
      tagline: 'A part of the harbour',
    },
    ...{ logo_url: 'https://assets.test/logo.svg', banner_url: 'https://assets.test/banner.svg' },
    ...{ asset: 'harbour', funding_assets: ['usd-coin'], partners: [clientId] },
    options: [{ slug: 'standard', price_usd: '1.50', requirements: [{ type: 'identity_verification' }] }],
    contracts: [{ chain: CHAIN, address: fund, funding_tokens: [{ asset: 'usd-coin', address: usdc() }] }],
    assets: {
      harbour: { code: 'HBR', name: 'Harbour', fractional_digits: 18 },
      'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6, transfers: 'exact' },
    },
  };
}

function usdc(): Hex {
  return chain.deployment.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address ?? '0x';
}

/** Registers a user through the pages and the mail, and exchanges the consent for an access token. */
async function signUp(partner: { client_id: string; client_secret: string }): Promise<string> {
  const visitor = visitOver(nodeUrl);
  await visitor.get('/register');
  await visitor.post('/register', { email: EMAIL, password: PASSWORD, kind: 'person' });
  await expect.poll(() => mailbox.mails().length, { timeout: 20_000 }).toBe(1);
  const link = new URL(/https:\/\/\S+/.exec(mailbox.mails()[0]?.text ?? '')?.[0] ?? '');
  expect(link.origin).toBe(env.PUBLIC_URL);
  await visitor.get(link.pathname + link.search);
  const confirmed = await visitor.post('/confirm', { token: link.searchParams.get('token') ?? '' });
  expect(confirmed.statusCode).toBe(303);
  const verifier = 'v'.repeat(43);
  const query = new URLSearchParams({
    ...{ response_type: 'code', client_id: partner.client_id, redirect_uri: REDIRECT, state: 'x' },
    scope:
      'openid offers:read requirements:read identity:write participations:read participations:write wallets:write',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const consent = await visitor.open(`/oauth/authorize?${query}`);
  const action = /action="(\/interaction\/[^"]+)"/.exec(consent.body)?.[1] ?? '';
  let { location = '' } = (await visitor.post(action, { decision: 'allow' })).headers;
  while (!location.startsWith(REDIRECT)) {
    const { pathname, search } = new URL(location, nodeUrl);
    ({ location = '' } = (await visitor.get(pathname + search)).headers);
  }
  const reply = await fetch(`${nodeUrl}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${partner.client_id}:${partner.client_secret}`)}` },
    body: new URLSearchParams({
      ...{ grant_type: 'authorization_code', redirect_uri: REDIRECT, code_verifier: verifier },
      code: new URL(location).searchParams.get('code') ?? '',
    }),
  });
  return ((await reply.json()) as { access_token: string }).access_token;
}

/** Opens the identity check as the partner's page does, passes it, and waits until the webhook has arrived. */
async function verifyIdentity(person: Person): Promise<void> {
  await providers.setClock(Date.now());
  await providers.call('identity/webhook', { url: `${nodeUrl}/webhooks/identity` });
  const check = await person.call('POST', '/v1/kyc-token', { level_name: LEVEL });
  expect(check).toMatchObject({ status: 200, body: { token: expect.any(String) } });
  const { pool, close } = openPool(database.url, { max: 1 });
  const { rows } = await pool.query('select id from users where email = $1', [EMAIL]).finally(close);
  const review = { user_id: rows[0]?.id, kind: 'person', email: EMAIL, level_name: LEVEL, answer: 'GREEN' };
  await providers.call('identity/review', review as never);
  const readStatuses = async () => {
    const { body } = await person.call('GET', '/v1/offers/harbour-sale/requirements/statuses');
    return JSON.stringify(body.statuses);
  };
  await expect.poll(readStatuses, { timeout: 20_000, interval: 250 }).toContain('completed');
}

/** Returns a wallet that holds ether and USDC, and that can approve the purchase. */
function investorOn({ chain: evm }: TestChain, fund: Hex) {
  const account = privateKeyToAccount(testWallets[0]?.private_key as Hex);
  const client = createWalletClient({ account, chain: sepolia, transport: custom(evm) });
  return {
    address: account.address.toLowerCase(),
    chain: CHAIN,
    sign: (text: string) => account.signMessage({ message: text }),
    approve: () =>
      client.writeContract({
        ...{ address: usdc(), abi: token.abi, functionName: 'approve', args: [fund, AMOUNT], gas: 100_000n },
      }),
  };
}

function balanceOf(address: Hex): Promise<unknown> {
  return chain.direct.readContract({
    ...{ address: usdc(), abi: token.abi, functionName: 'balanceOf', args: [address] },
  });
}
