import { token } from '@causeway/contracts/abi/token.ts';
import { encodeSwap, hashRequest, swapDomain } from '@causeway/contracts/encodings/tokenized-order.ts';
import { verifiedSwapAbi } from '@causeway/contracts/encodings/verifier-abi.ts';
import { roles, testWallets } from '@causeway/sandbox/seed/keys.ts';
import { type Hex, maxUint256 } from 'viem';
import { decodeFunctionData, toHex } from 'viem/utils';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { expectAudited } from '../../../test/support/audited.ts';
import { MARKET_OPEN, startTokenizedWorld, type TokenizedWorld } from '../../../test/support/venue.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { settleOrders } from './watch.ts';

let world: TokenizedWorld;
let time = MARKET_OPEN;
/** The number of the block that the chain's RPC nodes report as `finalized`. */
let finalized = 0n;
/** Whether the RPC nodes lag behind, so that they return no swaps from the latest blocks. */
let lags = false;

beforeAll(async () => {
  world = await startTokenizedWorld();
  const { chains } = world.app.ctx;
  const evm = chains.evm.bind(chains);
  vi.spyOn(chains, 'evm').mockImplementation((name) => asRollUp(evm(name)));
});
afterAll(() => world.close());
beforeEach(async () => {
  time += 600_000;
  world.app.clock.set(time);
  await world.chain.chain.mine(1);
  world.venue.state.session = 'regular';
  lags = false;
  finalized = await headNumber();
  await world.app.ctx.db.deleteFrom('events').execute();
  await world.app.ctx.db.deleteFrom('tokenized_orders').execute();
});

/** Makes the chain behave like a rollup, whose blocks become final only long after they are produced. */
function asRollUp(chain: EvmChain): EvmChain {
  const batch: typeof chain.rpc.batch = async (calls, accept) => {
    const tags = calls.map(({ params }) => (params as unknown[])[0]);
    if (tags.includes('finalized')) return tags.map(() => ({ result: { number: toHex(finalized) } }));
    if (!lags || !calls.some(({ method }) => method === 'eth_getLogs')) return chain.rpc.batch(calls, accept);
    const replies = calls.map(({ method }) => ({ result: method === 'eth_getLogs' ? [] : null }));
    accept?.(replies);
    return replies;
  };
  const facts = { ...chain.facts, finalityTags: true, confirmations: 3, refundDepth: 5 };
  return { ...chain, facts, rpc: { ...chain.rpc, batch } };
}

const headNumber = () => world.chain.direct.getBlockNumber();

const order = () =>
  world.user.call('POST', '/v1/tokenized/swap/transaction', {
    ...{ amount: '5000000', chain: 'ethereum_sepolia', symbol: 'AAPLon' },
    wallet_address: world.wallet.address,
  });

async function executeOrder() {
  const { body } = await order();
  expect(await world.send(world.wallet.key, body.to as Hex, body.data as Hex)).toBe('success');
}

async function settledEvents() {
  await settleOrders(world.app.ctx);
  const events = await world.app.ctx.db.selectFrom('events').select('type').orderBy('written').execute();
  return events.map(({ type }) => type).filter((type) => type !== 'tokenized_swap.issued');
}

describe('the outcome of an order on a roll-up', () => {
  test('is recorded when its block is final, however many blocks follow before', async () => {
    await executeOrder();
    const executedIn = await headNumber();
    await world.chain.chain.mine(20);
    finalized = executedIn - 1n;
    expect(await settledEvents()).toEqual([]);
    finalized = executedIn;
    expect(await settledEvents()).toEqual(['tokenized_swap.executed']);
    await expectAudited(world.app.ctx, 'tokenized_order.live', 'tokenized_order.executed');
  });

  test('is expired if a reorganisation undoes the execution, and no event says otherwise', async () => {
    await executeOrder();
    await world.chain.chain.mine(10);
    finalized = (await headNumber()) - 11n;
    expect(await settledEvents()).toEqual([]);
    await world.chain.chain.reorg({ depth: 11, transactions: 'drop' });
    world.app.clock.advance(31);
    await world.chain.chain.mine(1);
    expect(await settledEvents()).toEqual([]);
    finalized = await headNumber();
    expect(await settledEvents()).toEqual(['tokenized_swap.expired']);
  });

  test('is not expired by a node that lacks the final block', async () => {
    await executeOrder();
    world.app.clock.advance(31);
    await world.chain.chain.mine(1);
    finalized = await headNumber();
    lags = true;
    const warn = vi.spyOn(world.app.ctx.log, 'warn').mockImplementation(() => undefined);
    expect(await settledEvents()).toEqual([]);
    expect(warn).toHaveBeenCalledOnce();
    warn.mockRestore();
    lags = false;
    expect(await settledEvents()).toEqual(['tokenized_swap.executed']);
  });
});

/** Executes the attestation of an order from another wallet, for which the operator's key has signed as well. */
async function executeElsewhere(data: Hex): Promise<void> {
  const { chain, deployment, usdc } = world;
  const { functionName, args } = decodeFunctionData({ abi: verifiedSwapAbi, data });
  if (functionName !== 'swap') throw new Error('the calldata is no order');
  const [quote, signature, , amount] = args;
  const [, other] = testWallets as { address: Hex; private_key: Hex }[];
  if (other === undefined) throw new Error('there is only one wallet');
  const [, name] = await chain.direct.readContract({
    ...{ address: deployment.swap, abi: verifiedSwapAbi, functionName: 'eip712Domain' },
  });
  const domain = swapDomain(name, Number(quote.chainId), deployment.swap);
  const request = {
    ...{ side: quote.side, inputToken: usdc, outputToken: quote.asset, sender: other.address },
    ...{ nonce: 0n, expiry: quote.expiration, amount },
  };
  const permission = await roles.operator.sign({ hash: hashRequest(domain, request) });
  await world.call(other.private_key, usdc, token, 'approve', [deployment.swap, maxUint256]);
  const swap = encodeSwap({ ...quote, signature }, usdc, amount, permission);
  expect(await world.send(other.private_key, deployment.swap, swap)).toBe('success');
}

test('an attestation that another wallet has executed does not execute the order', async () => {
  const { body } = await order();
  await executeElsewhere(body.data as Hex);
  finalized = await headNumber();
  expect(await settledEvents()).toEqual([]);
  expect((await order()).body.code).toBe('order_outstanding');
  world.app.clock.advance(31);
  await world.chain.chain.mine(1);
  finalized = await headNumber();
  expect(await settledEvents()).toEqual(['tokenized_swap.expired']);
});
