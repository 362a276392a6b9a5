import { issuerToken } from '@causeway/contracts/abi/test/issuer-token.ts';
import { otherFundSwap } from '@causeway/contracts/abi/test/other-fund-swap.ts';
import { token } from '@causeway/contracts/abi/token.ts';
import { sandboxKey, testWallets } from '@causeway/sandbox/seed/keys.ts';
import { createWalletClient, custom, type Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { startTestChain, type TestChain } from '../../../test/support/chain.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { evmWallet, type Person, person } from '../../../test/support/wallets.ts';
import type { Offer } from '../../platform/context/ports.ts';

let chain: TestChain;
let app: TestApp;
let user: Person;
let share: Hex;
/**
 * A third-party fund swap. It differs from our own: `status()` returns the values in another order, and the issuer
 * maintains the allow-list.
 */
let swap: Hex;
let usdc: Hex;
let offer: Offer;

beforeAll(async () => {
  chain = await startTestChain();
  const node = await chain.addNode();
  usdc = chain.deployment.tokens[0]?.address as Hex;
  share = await chain.create(issuerToken, []);
  swap = await chain.create(otherFundSwap, [share, usdc]);
  const config = { rpcUrls: { ethereum_sepolia: [node.url] }, supplierKey: sandboxKey('supplier') };
  app = await testApp({ config });
  user = await person(app);
  const contract = {
    chain: 'ethereum_sepolia' as const,
    ...{ address: swap, asset_address: share, allow_list: true, domain_name: null, vault: null },
    funding_tokens: [{ asset: 'usd-coin', address: usdc }],
  };
  offer = await makeOffer(app.ctx, saleFile({ slug: 'issued', type: 'fund::swap', contracts: [contract] }));
});
afterAll(async () => {
  await app.close();
  await chain.close();
});

async function get(path: string, query: Record<string, string>) {
  const search = new URLSearchParams({ chain: 'ethereum_sepolia', contract_address: swap, ...query });
  return (await user.call('GET', `${path}?${search}`)).body;
}

const setEligible = (wallet: string) =>
  chain.owner.writeContract({
    ...{ address: share, abi: issuerToken.abi, functionName: 'setEligible', args: [wallet as Hex, true] },
  });

describe('a fund swap of another generation', () => {
  test('is previewed, and its output token is read', async () => {
    expect(await get('/v1/swap/preview', { input_token: usdc, amount: '1005000' })).toEqual({
      ...{
        object: 'swap_preview',
        fee: '5000',
        pay_input_amount: '1000000',
        receive_output_amount: '100000',
      },
    });
    expect(await get('/v1/swap/output-token', {})).toEqual({
      ...{ object: 'swap_output_token', name: 'Issuer Fund', symbol: 'ISF', decimals: 6 },
    });
  });

  test.each([
    ['running', [false, 0, 0], '0'],
    ['its market is paused', [false, 0, 1], '2'],
    ['its market is closed', [false, 0, 2], '2'],
    ['another level is paused', [false, 4, 0], '4'],
    ['its level is paused', [false, 6, 0], '6'],
    ['it is stopped', [true, 0, 0], '2'],
    ['it is stopped and another level is paused', [true, 4, 0], '6'],
  ] as const)('reports its stop mask when %s', async (_name, args, stopped) => {
    await chain.owner.writeContract({ address: swap, abi: otherFundSwap.abi, functionName: 'set', args });
    expect(await get('/v1/swap/status', {})).toEqual({ object: 'swap_status', stopped, swap_level: '2' });
    await chain.owner.writeContract({
      ...{ address: swap, abi: otherFundSwap.abi, functionName: 'set', args: [false, 0, 0] },
    });
  });
});

describe('an allow-list that the issuer keeps', () => {
  test('refuses other wallets with a code that says so, and does not spend the challenge', async () => {
    const wallet = evmWallet('not admitted');
    const signature = await wallet.sign(await user.challenge(wallet));
    const body = { chain: wallet.chain, wallet_address: wallet.address, signature };
    const allow = () => user.call('POST', `/v1/offers/${offer.id}/allow-wallet`, body);
    expect(await allow()).toMatchObject({ status: 422, body: { code: 'allow_list_external' } });
    expect(await get('/v1/wallet/authorized', { wallet_address: wallet.address })).toMatchObject({
      authorized: false,
    });
    await setEligible(wallet.address);
    expect(await allow()).toEqual({ status: 200, body: {} });
    expect(await get('/v1/wallet/authorized', { wallet_address: wallet.address })).toMatchObject({
      authorized: true,
    });
  });

  test('is explained by the dry run: somebody else must act', async () => {
    const { address } = evmWallet('never admitted');
    const { body } = await user.call('GET', `/v1/offers/${offer.id}/eligibility?wallet_address=${address}`);
    const [option] = body.options as { checks: { code: string }[] }[];
    expect(option?.checks.find(({ code }) => code === 'allow_list')).toMatchObject({
      ...{ status: 'waiting', next: { type: 'contact' } },
    });
  });

  test('lets an admitted wallet swap what was previewed', async () => {
    const [first] = testWallets;
    const account = privateKeyToAccount(first?.private_key as Hex);
    const wallet = createWalletClient({ account, chain: sepolia, transport: custom(chain.chain) });
    await setEligible(account.address);
    await chain.owner.writeContract({
      ...{ address: share, abi: token.abi, functionName: 'mint', args: [swap, 10n ** 9n] },
    });
    await wallet.writeContract({
      address: usdc,
      abi: token.abi,
      functionName: 'approve',
      args: [swap, 10n ** 9n],
    });
    const preview = await get('/v1/swap/preview', { input_token: usdc, amount: '2010000' });
    await wallet.writeContract({
      ...{ address: swap, abi: otherFundSwap.abi, functionName: 'swap', args: [usdc, 2_010_000n, 0n] },
    });
    const received = await chain.direct.readContract({
      ...{ address: share, abi: token.abi, functionName: 'balanceOf', args: [account.address] },
    });
    expect(String(received)).toBe(preview.receive_output_amount);
  });
});
