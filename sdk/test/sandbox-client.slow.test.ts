import { beforeAll, expect, test } from 'vitest';
import { createSandboxClient, type SandboxClient } from '../src/testing/index.ts';
import { type Sandbox, useSandbox } from './sandbox.ts';

let service: Sandbox;
let sandbox: SandboxClient;
beforeAll(async () => {
  service = await useSandbox();
  sandbox = createSandboxClient(`${service.url}/`);
}, 180_000);

test('describes the sandbox', async () => {
  const { partner, chains, wallets, offers } = await sandbox.overview();
  expect(partner).toEqual({ ...service.overview.partner });
  expect(chains.map(({ chain, chain_id }) => [chain, chain_id])).toEqual([
    ['ethereum_sepolia', 11155111],
    ['base_sepolia', 84532],
    ['solana_devnet', null],
  ]);
  expect(new Set(wallets.map(({ protocol }) => protocol))).toEqual(new Set(['ethereum', 'solana']));
  expect(offers.find(({ slug }) => slug === 'harbour-quarter')?.state).toBe('open');
});

test('signs a new user in, and decides the checks of that user', async () => {
  const { causeway, user } = await sandbox.signIn();
  const offer = await causeway.offers.get('treasury-fund');
  expect((await causeway.offers.eligibility(offer.id)).eligible).toBe(false);
  for (const level_name of ['Sorting_KYC_Level', 'BasicKYCLevel'])
    await sandbox.reviewIdentity({ email: user.email, level_name, answer: 'GREEN' });
  const { statuses } = await causeway.requirements.statuses(offer.id);
  expect(new Set(Object.values(statuses))).toEqual(new Set(['completed']));
});

test('controls the market, the chains and webhook receivers', async () => {
  const { causeway } = await sandbox.signIn();
  const status = () => causeway.tokenized.tradingStatus({ symbol: 'AAPLon', side: 'buy' });
  await sandbox.setVenue({ session: 'regular' });
  await expect.poll(async () => (await status()).tradable, { timeout: 20_000 }).toBe(true);
  const owner = `0x${'5'.repeat(40)}`;
  await sandbox.fund('ethereum_sepolia', { address: owner, asset_id: 'usd-coin', amount: '1500000' });
  const { chains } = await sandbox.overview();
  const usdc = chains[0]?.tokens.find(({ asset_id }) => asset_id === 'usd-coin');
  const query = { token_address: usdc?.address ?? '', owner, chain: 'ethereum_sepolia' } as const;
  expect((await causeway.token.balance(query)).balance).toBe('1500000');
  const { id, url } = await sandbox.createInbox();
  await sandbox.setInbox(id, 'error');
  expect((await fetch(url, { method: 'POST', body: 'hello' })).status).toBeGreaterThanOrEqual(500);
  expect((await sandbox.readInbox(id)).map(({ body }) => body)).toEqual(['hello']);
  expect(await sandbox.mail('nobody@example.com')).toEqual([]);
});

test('throws the error of a refused control', async () => {
  const review = { email: 'x', level_name: 'y', answer: 'GREEN' } as const;
  await expect(sandbox.reviewIdentity(review)).rejects.toMatchObject({ name: 'CausewayError' });
  await expect(sandbox.moveClock({ advance_seconds: 1 })).rejects.toMatchObject({ name: 'CausewayError' });
});
