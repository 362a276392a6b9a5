import { type ChainName, EVM_CHAIN_NAMES, SOLANA_CHAIN_NAMES } from '../../kernel/chains.ts';
import { realTime } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { type EvmChain, evmInLane, openEvmChain } from './evm/client.ts';
import { openSolanaChain, type SolanaChain, solanaInLane } from './solana/client.ts';

export type Chains = {
  evm(name: string): EvmChain;
  solana(name: string): SolanaChain;
  all(): EvmChain[];
  allSolana(): SolanaChain[];
  inLane(lane: string): Chains;
  close(): Promise<void>;
};

export type ChainsOptions = {
  /** The RPC URLs of each chain in order of preference. */
  urls: Partial<Record<ChainName, readonly string[]>>;
  /** Time limit for one call, including retries. Default: 4,000. */
  timeoutMs?: number;
  /**
   * Under load, between two checks for a new head block; see `createReader`. Default: an eighth of the block time, at
   * most 500.
   */
  freshnessMs?: number | null;
  /** For judging the timestamps of head blocks, in milliseconds since the epoch. Default: real time. */
  now?: () => number;
};

const RPC_TIMEOUT_MS = 4_000;

export function openChains({
  urls,
  timeoutMs = RPC_TIMEOUT_MS,
  freshnessMs,
  now = realTime,
}: ChainsOptions): Chains {
  const configured = <N extends ChainName>(names: readonly N[]) =>
    names.flatMap((name) => {
      const list = urls[name] ?? [];
      return list.length === 0 ? [] : [{ name, list }];
    });
  const evm = configured(EVM_CHAIN_NAMES).map(({ name, list }) =>
    openEvmChain(name, list, timeoutMs, freshnessMs, now),
  );
  const solana = configured(SOLANA_CHAIN_NAMES).map(({ name, list }) =>
    openSolanaChain(name, list, timeoutMs, now),
  );
  return listChains(evm, solana);
}

function listChains(evm: readonly EvmChain[], solana: readonly SolanaChain[]): Chains {
  return {
    evm: (name) => findChain(evm, name),
    solana: (name) => findChain(solana, name),
    all: () => [...evm],
    allSolana: () => [...solana],
    inLane: (lane) =>
      listChains(
        evm.map((chain) => evmInLane(chain, lane)),
        solana.map((chain) => solanaInLane(chain, lane)),
      ),
    close: async () => void (await Promise.all([...evm, ...solana].map(({ rpc }) => rpc.close()))),
  };
}

function findChain<C extends { name: string }>(chains: readonly C[], wanted: string): C {
  const chain = chains.find(({ name }) => name === wanted);
  if (chain === undefined)
    throw new ApiError('chain_not_supported', { chain: [`${wanted} is not supported here`] });
  return chain;
}
