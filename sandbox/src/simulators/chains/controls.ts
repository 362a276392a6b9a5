import { Type } from 'typebox';
import type { Hex } from 'viem';
import { type Control, ControlError } from '../control.ts';
import { FaultInput, type FaultMode } from '../fault.ts';
import { type Chain, ReorgTooDeep } from './chain.ts';
import type { ChainDeployment } from './deploy.ts';
import { EMBEDDED_CHAINS, type EmbeddedChain, type EmbeddedChainName } from './embedded.ts';
import { createFaucet, type FaucetInput } from './faucet.ts';
import type { ServedChain } from './rpc-server.ts';

type ControlledChain = ServedChain & { embedded: EmbeddedChain; deployment: ChainDeployment };
type Height = { height: number };

export type ChainsControls = {
  'chains/faucet': {
    input: FaucetInput & { chain: EmbeddedChainName };
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

const chain = Type.Enum(EMBEDDED_CHAINS.map((embedded) => embedded.chain));
const Faucet = Type.Object({
  chain,
  address: Type.String({ maxLength: 100 }),
  asset_id: Type.Optional(Type.String()),
  amount: Type.String({ pattern: '^(0|[1-9][0-9]{0,77})$' }),
});
const Mine = Type.Object({ chain, blocks: Type.Integer({ minimum: 1, maximum: 10_000 }) });
const Reorg = Type.Object({
  chain,
  depth: Type.Integer({ minimum: 1, maximum: 1_000 }),
  transactions: Type.Optional(Type.Enum(['return', 'drop'])),
});
const Interval = Type.Object({
  chain,
  milliseconds: Type.Union([Type.Literal(0), Type.Integer({ minimum: 50 })]),
});
const SetFault = Type.Object({ chain, ...FaultInput.properties });

const RETURN_MS = 3_000;

export function addChainControls(control: Control, chains: Map<string, ControlledChain>): void {
  const findChain = (name: string): ControlledChain => {
    const found = chains.get(name);
    if (!found) throw new ControlError('chain_not_supported', `${name} is not an embedded chain`);
    return found;
  };
  const height = ({ chain }: ControlledChain): Height => ({ height: chain.height() });
  const faucet = createFaucet();

  control.on('chains/faucet', Faucet, (input) => faucet(findChain(input.chain), input));
  control.on('chains/mine', Mine, async (input) => {
    const target = findChain(input.chain);
    await target.chain.mine(input.blocks);
    return height(target);
  });
  control.on('chains/reorg', Reorg, async (input) => {
    const target = findChain(input.chain);
    await reorg(target.chain, input.depth, input.transactions ?? 'return');
    // Mines the transactions of the dropped blocks again. On a real chain, one of the next blocks would include these
    // transactions.
    setTimeout(() => target.chain.minePending().catch(() => undefined), RETURN_MS).unref();
    return height(target);
  });
  control.on('chains/interval', Interval, async (input) => {
    const target = findChain(input.chain);
    target.chain.setBlockInterval(input.milliseconds);
    return height(target);
  });
  control.on('chains/fault', SetFault, async (input) => {
    findChain(input.chain).fault.set(input.mode, input.for_seconds);
    return {};
  });
}

async function reorg(chain: Chain, depth: number, transactions: 'return' | 'drop'): Promise<void> {
  try {
    await chain.reorg({ depth, transactions });
  } catch (error) {
    if (error instanceof ReorgTooDeep)
      throw new ControlError('validation_failed', error.message, { depth: [error.message] });
    throw error;
  }
}
