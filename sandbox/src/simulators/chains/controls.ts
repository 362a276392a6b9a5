import { Type } from 'typebox';
import type { Hex } from 'viem';
import { encodeFunctionData, parseAbi } from 'viem/utils';
import { roles } from '../../seed/keys.ts';
import { type Control, ControlError } from '../control.ts';
import { FAULT_MODES, type FaultMode } from '../fault.ts';
import { type Chain, ReorgTooDeep } from './chain.ts';
import type { ChainDeployment } from './deploy.ts';
import { EMBEDDED_CHAINS, type EmbeddedChain, type EmbeddedChainName } from './embedded.ts';
import { RpcError } from './evm.ts';
import type { ServedChain } from './rpc-server.ts';
import { nextNonce, type PlannedTransaction, transact } from './transact.ts';

type ControlledChain = ServedChain & { embedded: EmbeddedChain; deployment: ChainDeployment };
type Height = { height: number };

export type ChainsControls = {
  'chains/faucet': {
    input: { chain: EmbeddedChainName; address: string; asset_id?: string; amount: string };
    output: { transaction_hash: Hex };
  };
  'chains/mine': { input: { chain: EmbeddedChainName; blocks: number }; output: Height };
  'chains/reorg': {
    input: { chain: EmbeddedChainName; depth: number; transactions?: 'return' | 'drop' };
    output: Height;
  };
  'chains/interval': { input: { chain: EmbeddedChainName; milliseconds: number }; output: Height };
  'chains/fault': {
    input: { chain: EmbeddedChainName; mode: FaultMode; for_seconds?: number };
    output: Record<string, never>;
  };
};

const chain = Type.Union(EMBEDDED_CHAINS.map((each) => Type.Literal(each.chain)));
const Faucet = Type.Object({
  chain,
  address: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' }),
  asset_id: Type.Optional(Type.String()),
  amount: Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' }),
});
const Mine = Type.Object({ chain, blocks: Type.Integer({ minimum: 1, maximum: 10_000 }) });
const Reorg = Type.Object({
  chain,
  depth: Type.Integer({ minimum: 1, maximum: 1_000 }),
  transactions: Type.Optional(Type.Union([Type.Literal('return'), Type.Literal('drop')])),
});
const Interval = Type.Object({
  chain,
  milliseconds: Type.Union([Type.Literal(0), Type.Integer({ minimum: 50 })]),
});
const SetFault = Type.Object({
  chain,
  mode: Type.Union(FAULT_MODES.map((mode) => Type.Literal(mode))),
  for_seconds: Type.Optional(Type.Number({ minimum: 0 })),
});

/** The calls by which the sandbox's routes move the chains. */
export function addControls(control: Control, chains: Map<string, ControlledChain>): void {
  const named = (name: string): ControlledChain => {
    const found = chains.get(name);
    if (!found) throw new ControlError('chain_not_supported', `${name} does not run embedded`);
    return found;
  };
  const height = ({ chain }: ControlledChain): Height => ({ height: chain.height() });
  const faucet = createFaucet();

  control.on('chains/faucet', Faucet, (input) => faucet(named(input.chain), input as FaucetInput));
  control.on('chains/mine', Mine, async (input) => {
    const target = named(input.chain);
    await target.chain.mine(input.blocks);
    return height(target);
  });
  control.on('chains/reorg', Reorg, async (input) => {
    const target = named(input.chain);
    await reorganise(target.chain, input.depth, input.transactions ?? 'return');
    return height(target);
  });
  control.on('chains/interval', Interval, async (input) => {
    const target = named(input.chain);
    target.chain.setBlockInterval(input.milliseconds);
    return height(target);
  });
  control.on('chains/fault', SetFault, async (input) => {
    named(input.chain).fault.set(input.mode, input.for_seconds);
    return {};
  });
}

async function reorganise(chain: Chain, depth: number, transactions: 'return' | 'drop'): Promise<void> {
  try {
    await chain.reorg({ depth, transactions });
  } catch (error) {
    if (error instanceof ReorgTooDeep)
      throw new ControlError('validation_failed', error.message, { depth: [error.message] });
    throw error;
  }
}

type FaucetInput = { address: Hex; asset_id?: string; amount: string };

const MAX_UINT256 = 2n ** 256n - 1n;
const mintAbi = parseAbi(['function mint(address to, uint256 amount)']);

function createFaucet() {
  // One after the other: they share the deployer's nonces.
  let tail: Promise<unknown> = Promise.resolve();
  return (target: ControlledChain, input: FaucetInput): Promise<{ transaction_hash: Hex }> => {
    const result = tail.then(() => pay(target, input));
    tail = result.catch(() => undefined);
    return result;
  };
}

async function pay(target: ControlledChain, input: FaucetInput): Promise<{ transaction_hash: Hex }> {
  const { chain, embedded } = target;
  const planned = planPayment(target, input);
  const nonce = await nextNonce(chain, roles.deployer.address);
  const transaction = { ...planned, chainId: embedded.chainId, nonce };
  const { hash, status } = await transact(chain, roles.deployer, transaction).catch((error) => {
    throw error instanceof RpcError ? new ControlError('validation_failed', error.message) : error;
  });
  if (status !== 'success')
    throw new ControlError('contract_reverted', 'the faucet transaction was reverted');
  return { transaction_hash: hash };
}

function planPayment(
  { deployment }: ControlledChain,
  { address, asset_id, amount }: FaucetInput,
): PlannedTransaction {
  if (BigInt(amount) > MAX_UINT256)
    throw new ControlError('validation_failed', 'too much', { amount: ['is too much'] });
  if (asset_id === undefined) return { to: address, value: BigInt(amount) };
  const token = deployment.tokens.find((each) => each.asset_id === asset_id);
  if (!token)
    throw new ControlError('validation_failed', `no asset ${asset_id} on this chain`, {
      asset_id: ['is unknown'],
    });
  const data = encodeFunctionData({ abi: mintAbi, args: [address, BigInt(amount)] });
  return { to: token.address, data };
}
