import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTokenizedWorld, type TokenizedWorld } from '../../../test/support/venue.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';
import { evmContractOn } from '../offers/offer.ts';
import { findSwapProblems, readDomain } from './swap-domain.ts';

let world: TokenizedWorld;
beforeAll(async () => {
  world = await startTokenizedWorld();
});
afterAll(() => world.close());

test('a matching key, venue and contract have no problems', async () => {
  expect(await findSwapProblems(world.app.ctx)).toEqual([]);
});

test('a missing key and a missing venue are reported', async () => {
  const { ctx } = world.app;
  const bare = { ...ctx, signerOf: () => null, config: { ...ctx.config, venue: null } };
  expect(await findSwapProblems(bare)).toEqual([
    expect.stringContaining('ONDO_API_KEY: is required'),
    expect.stringContaining('OPERATOR_KEY: is required'),
  ]);
});

test('a domain that the contract does not confirm is refused', async () => {
  const contract = evmContractOn(world.offer, 'ethereum_sepolia');
  const chain = world.app.ctx.chains.evm('ethereum_sepolia');
  // Simulates the same contract on another chain.
  const otherChain = { ...chain, chainId: 1, memoize: <T>(_key: string, load: () => Promise<T>) => load() };
  await expect(readDomain(otherChain, contract)).rejects.toMatchObject({
    code: 'contract_reverted',
    details: { reason: expect.stringContaining('EIP-712 domain') },
  });
});

test('an order is refused before the attestation when the owner has rotated the signer', async () => {
  const { deployment, call, user, wallet, venue } = world;
  const rotate = (key: 'supplier' | 'operator') =>
    call(deriveSandboxKey('owner'), deployment.swap, tokenizedSwap, 'setOperator', [roles[key].address]);
  const order = () =>
    user.call('POST', '/v1/tokenized/swap/transaction', {
      ...{ amount: '1005000000', chain: 'ethereum_sepolia', symbol: 'AAPLon' },
      wallet_address: wallet.address,
    });
  await rotate('supplier');
  const before = venue.state.attestations;
  const reason = expect.stringContaining(
    `the contract accepts orders signed by ${roles.supplier.address.toLowerCase()}`,
  );
  expect(await order()).toMatchObject({
    ...{ status: 422, body: { code: 'contract_reverted', errors: { reason } } },
  });
  expect(venue.state.attestations).toBe(before);
  await rotate('operator');
  expect((await order()).status).toBe(200);
});
