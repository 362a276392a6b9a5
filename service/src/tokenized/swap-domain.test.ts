import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeOffer } from '../../test/support/offers.ts';
import { appleFile, startTokenizedWorld, type TokenizedWorld } from '../../test/support/venue.ts';
import { evmContractOn } from '../offers/offer.ts';
import { deriveSandboxKey } from '../operator/sandbox-keys.ts';
import { localSigner } from '../operator/signer.ts';
import { findSwapProblems, readDomain } from './swap-domain.ts';

let world: TokenizedWorld;
beforeAll(async () => {
  world = await startTokenizedWorld();
});
afterAll(() => world.close());

test('a matching key, venue and contract have no problems', async () => {
  expect(await findSwapProblems(world.app.ctx)).toEqual([]);
});

test('an unknown key, a missing key and a missing venue are reported', async () => {
  const { ctx } = world.app;
  const stranger = localSigner(Buffer.from(deriveSandboxKey('supplier').slice(2), 'hex'));
  expect(await findSwapProblems({ ...ctx, operator: stranger })).toEqual([
    expect.stringContaining(`not by ${stranger.address}`),
  ]);
  const bare = { ...ctx, operator: null, config: { ...ctx.config, venue: null } };
  expect(await findSwapProblems(bare)).toEqual([
    expect.stringContaining('ONDO_API_KEY: is required'),
    expect.stringContaining('OPERATOR_KEY: is required'),
  ]);
});

test('a domain that the contract does not confirm is refused', async () => {
  const contract = evmContractOn(world.offer, 'ethereum_sepolia');
  const chain = world.app.ctx.chains.evm('ethereum_sepolia');
  // As if the same contract were on another chain.
  const otherChain = { ...chain, chainId: 1, memoize: <T>(_key: string, load: () => Promise<T>) => load() };
  await expect(readDomain(otherChain, contract)).rejects.toThrow('EIP-712 domain');
});

test('a contract of another type is reported, an unreachable chain is not', async () => {
  const { deployment, usdc, app } = world;
  const [contract] = appleFile(deployment, usdc).contracts;
  if (contract === undefined) throw new Error('no contract');
  const file = appleFile(deployment, usdc, {
    slug: 'wrong',
    symbol: 'WRONGon',
    contracts: [{ ...contract, address: deployment.manager }],
  });
  await makeOffer(app.ctx, file);
  expect(await findSwapProblems(app.ctx)).toEqual([expect.stringContaining('offer wrong:')]);
  world.node.fault.set('down');
  expect(await findSwapProblems(app.ctx)).toEqual([]);
  world.node.fault.set('none');
});
