import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, createWalletClient, type Hex, http, maxUint256, parseAbi } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Service, startService } from './support/service.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'causeway-tokenized-'));
let service: Service;
let token: string;
beforeAll(async () => {
  service = await startService({ CAUSEWAY_DATA: dataDir });
  const { body } = await call('POST', '/sandbox/users', {});
  token = String((await call('POST', '/sandbox/token', { email: body.email })).body.access_token);
}, 120_000);
afterAll(async () => {
  await service.discard();
  rmSync(dataDir, { recursive: true, force: true });
});

type Body = Record<string, unknown>;

async function call(
  method: 'GET' | 'POST',
  path: string,
  body?: object,
): Promise<{ status: number; body: Body }> {
  const reply = await fetch(service.url + path, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: reply.status, body: (await reply.json()) as Body };
}

const quote = (more = 'notional_value=100') =>
  call('GET', `/v1/tokenized/swap/quote?symbol=AAPLon&side=buy&${more}`);
const status = () => call('GET', '/v1/tokenized/swap/trading-status?symbol=AAPLon&side=buy');

/** Signs a challenge and binds the wallet to the AAPLon offer. */
async function proveWallet(account: ReturnType<typeof privateKeyToAccount>): Promise<void> {
  const wallet = { chain: 'ethereum_sepolia', wallet_address: account.address };
  const { message } = (await call('POST', '/v1/wallet-ownership', wallet)).body;
  const signature = await account.signMessage({ message: String(message) });
  const { offers } = (await call('GET', '/sandbox')).body as unknown as {
    offers: { id: string; slug: string; options: { id: string }[] }[];
  };
  const offer = offers.find(({ slug }) => slug === 'apple-tokenized');
  const bound = await call('POST', `/v1/offers/${offer?.id}/addresses`, {
    ...{ ...wallet, signature, offer_option_id: offer?.options[0]?.id },
  });
  expect(bound.status).toBe(200);
}

test('the venue control changes the market immediately', async () => {
  expect((await status()).body.tradable).toBe(true);
  expect((await quote()).status).toBe(200);
  const closed = await call('POST', '/sandbox/venue', { session: 'closed' });
  expect([closed.status, closed.body.object, closed.body.session]).toEqual([200, 'venue', 'closed']);
  expect((await quote()).body.code).toBe('market_closed');
  expect((await status()).body.tradable).toBe(false);
  await call('POST', '/sandbox/venue', { session: 'regular', assets: { AAPLon: { paused: true } } });
  expect((await quote()).body.code).toBe('asset_paused');
  await call('POST', '/sandbox/venue', {
    assets: { AAPLon: { paused: false, price: '300', max_notional: '50' } },
  });
  const { price } = (await quote()).body;
  expect(Number(price)).toBeGreaterThan(290);
  expect(Number(price)).toBeLessThan(310);
  expect((await status()).body.gross_max_active_notional_value).toBe('50.25');
  await call('POST', '/sandbox/venue', { assets: { AAPLon: { max_notional: null } } });
});

test('the venue control refuses unknown values', async () => {
  for (const body of [{ session: 'lunch' }, { assets: { NOPEon: { paused: true } } }, { colour: 'red' }]) {
    const reply = await call('POST', '/sandbox/venue', body);
    expect([reply.status, reply.body.code]).toEqual([422, 'validation_failed']);
  }
});

test('a venue fault lasts until it is removed', async () => {
  await call('POST', '/sandbox/faults', { target: 'venue', mode: 'garbage' });
  expect((await quote('notional_value=7')).body).toMatchObject({
    code: 'upstream_error',
    errors: { upstream: 'venue' },
  });
  await call('POST', '/sandbox/faults', { target: 'venue', mode: 'none' });
  expect((await quote('notional_value=7')).status).toBe(200);
});

test('a wallet executes a purchase at a price set by the control', async () => {
  const { chains, wallets } = (await call('GET', '/sandbox')).body as unknown as {
    chains: { rpc_url: string; tokens: { asset_id: string; address: Hex }[] }[];
    wallets: { private_key: Hex; address: Hex }[];
  };
  const account = privateKeyToAccount(wallets[3]?.private_key as Hex);
  const transport = http(chains[0]?.rpc_url);
  const writer = createWalletClient({ chain: sepolia, transport, account });
  const reader = createPublicClient({ chain: sepolia, transport, cacheTime: 0, pollingInterval: 50 });
  const order = () =>
    call('POST', '/v1/tokenized/swap/transaction', {
      ...{ amount: '100500000', chain: 'ethereum_sepolia', symbol: 'AAPLon' },
      wallet_address: account.address,
    });
  expect((await order()).body.code).toBe('wallet_not_proven');
  await proveWallet(account);
  const short = await order();
  expect(short.body.code).toBe('insufficient_allowance');
  const { spender, token: usdc } = short.body.errors as { spender: Hex; token: Hex };
  const abi = parseAbi([
    'function approve(address, uint256)',
    'function balanceOf(address) view returns (uint256)',
  ]);
  const approval = await writer.writeContract({
    address: usdc,
    abi,
    functionName: 'approve',
    args: [spender, maxUint256],
  });
  await reader.waitForTransactionReceipt({ hash: approval });
  const { status: code, body } = await order();
  expect([code, body.code]).toEqual([200, undefined]);
  expect((await order()).body.code).toBe('order_outstanding');
  const hash = await writer.sendTransaction({ to: body.to as Hex, data: body.data as Hex });
  expect((await reader.waitForTransactionReceipt({ hash })).status).toBe('success');
  const asset = chains[0]?.tokens.find(({ asset_id }) => asset_id === 'aaplon')?.address as Hex;
  const owned = await reader.readContract({
    address: asset,
    abi,
    functionName: 'balanceOf',
    args: [account.address],
  });
  expect(owned).toBe(BigInt(String(body.receive_output_amount)));
  expect((await call('POST', '/sandbox/venue', {})).body.attestations).toBe(1);
});

test('a price of null returns an asset to the price of the venue, in its oracle too', async () => {
  const { wallets } = (await call('GET', '/sandbox')).body as unknown as { wallets: { address: Hex }[] };
  const price = (value: string | null) =>
    call('POST', '/sandbox/venue', { session: 'regular', assets: { AAPLon: { price: value } } });
  await price('500');
  await price(null);
  const order = await call('POST', '/v1/tokenized/swap/transaction', {
    ...{ amount: '100500000', chain: 'ethereum_sepolia', symbol: 'AAPLon' },
    wallet_address: wallets[3]?.address,
  });
  // The simulation of the order also checks the oracle's price band, so the band must have followed the
  // price.
  expect([order.status, order.body.code]).toEqual([200, undefined]);
});
