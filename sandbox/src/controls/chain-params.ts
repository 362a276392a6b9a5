import { ApiError } from '@causeway/service/kernel/errors.ts';
import Type from 'typebox';
import { EMBEDDED_CHAINS, type EmbeddedChainName } from '../simulators/chains/embedded.ts';
import type { FaultMode } from '../simulators/fault.ts';
import { SOLANA_CHAIN } from '../simulators/solana/chain-name.ts';
import type { SimulatorControl } from '../simulators/start.ts';

export const ChainParams = Type.Object({ chain: Type.String() });

type Height = { height: number };

/** The operations that the controls perform on an embedded chain of any protocol. */
export type ChainControl = {
  chain: EmbeddedChainName | typeof SOLANA_CHAIN;
  faucet(input: {
    address: string;
    asset_id?: string;
    amount: string;
  }): Promise<{ transaction_hash: string }>;
  mine(input: { blocks: number }): Promise<Height>;
  reorg(input: { depth: number; transactions?: 'return' | 'drop' }): Promise<Height>;
  interval(input: { milliseconds: number }): Promise<Height>;
  fault(input: { mode: FaultMode; for_seconds?: number }): Promise<unknown>;
};

/** Returns the controls for every embedded chain. */
export function embeddedChains({ call }: Pick<SimulatorControl, 'call'>): ChainControl[] {
  return [
    ...EMBEDDED_CHAINS.map(
      ({ chain }) =>
        ({
          chain,
          faucet: (input) => call('chains/faucet', { chain, ...input }),
          mine: (input) => call('chains/mine', { chain, ...input }),
          reorg: (input) => call('chains/reorg', { chain, ...input }),
          interval: (input) => call('chains/interval', { chain, ...input }),
          fault: (input) => call('chains/fault', { chain, ...input }),
        }) satisfies ChainControl,
    ),
    {
      chain: SOLANA_CHAIN,
      faucet: (input) => call('solana/faucet', input),
      mine: (input) => call('solana/mine', input),
      reorg: (input) => call('solana/reorg', input),
      interval: (input) => call('solana/interval', input),
      fault: (input) => call('solana/fault', input),
    },
  ];
}

/** Throws `chain_not_supported` if no embedded chain has this name. */
export function requireEmbeddedChain(chains: readonly ChainControl[], name: string): ChainControl {
  const found = chains.find(({ chain }) => chain === name);
  if (found === undefined)
    throw new ApiError('chain_not_supported', { chain: [`${name} is not an embedded chain`] });
  return found;
}
