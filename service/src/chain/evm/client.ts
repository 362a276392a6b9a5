import { createPublicClient, custom, defineChain, type PublicClient } from 'viem';
import { realTime } from '../../clock.ts';
import { ApiError } from '../../errors.ts';
import { type ChainFacts, chainFacts, EVM_CHAIN_NAMES, type EvmChainName } from '../chains.ts';
import { createReader, type Reader } from './reads.ts';
import { openRpc, type Rpc } from './rpc.ts';

/** An EVM chain that the service has RPC endpoints for. */
export type EvmChain = {
  name: EvmChainName;
  facts: ChainFacts;
  chainId: number;
  /** For everything but contract reads. Use `findApiError` on what it throws. */
  client: PublicClient;
  reader: Reader;
  rpc: Rpc;
  /** Caches a value that never changes. Failed loads are not cached. */
  memoize<T>(key: string, load: () => Promise<T>): Promise<T>;
};

export type Chains = {
  /** Throws `chain_not_supported` if the chain has no RPC endpoint. */
  evm(name: string): EvmChain;
  all(): EvmChain[];
  close(): Promise<void>;
};

export type ChainsOptions = {
  /** The RPC URLs of each chain in order of preference. */
  urls: Partial<Record<EvmChainName, readonly string[]>>;
  /** Time for one call including retries. Default: 4,000. */
  timeoutMs?: number;
  /** See `createReader`. Default: an eighth of the block time, at most 500 ms. */
  freshnessMs?: number | null;
  /** The clock that heads are compared with, in milliseconds since the epoch. Default: real time. */
  now?: () => number;
};

const RPC_TIMEOUT_MS = 4_000;
const MAX_FRESHNESS_MS = 500;
/** How far an endpoint may lag behind the others before they are preferred. */
const MAX_LAG_BLOCKS = 5;
const MIN_LAG_SECONDS = 20;
const MAX_MEMOIZED = 10_000;

/** Returns the chain with a reader that bypasses the read cache. */
export function uncached(chain: EvmChain): EvmChain {
  const { readNow } = chain.reader;
  return { ...chain, reader: { read: readNow, readNow } };
}

export function openChains({
  urls,
  timeoutMs = RPC_TIMEOUT_MS,
  freshnessMs,
  now = realTime,
}: ChainsOptions): Chains {
  const chains = new Map<string, EvmChain>();
  for (const name of EVM_CHAIN_NAMES) {
    const chainUrls = urls[name];
    if (chainUrls !== undefined && chainUrls.length > 0)
      chains.set(name, openChain(name, chainUrls, timeoutMs, freshnessMs, now));
  }
  return {
    evm: (name) => {
      const chain = chains.get(name);
      if (chain === undefined)
        throw new ApiError('chain_not_supported', { chain: [`${name} is not supported here`] });
      return chain;
    },
    all: () => [...chains.values()],
    close: async () => void (await Promise.all([...chains.values()].map(({ rpc }) => rpc.close()))),
  };
}

function openChain(
  name: EvmChainName,
  urls: readonly string[],
  timeoutMs: number,
  freshnessMs: number | null | undefined,
  now: () => number,
): EvmChain {
  const facts = chainFacts(name);
  const { blockTimeSeconds, multicall } = facts;
  const chainId = facts.chainId ?? 0;
  const maxLagSeconds = Math.max(MIN_LAG_SECONDS, MAX_LAG_BLOCKS * blockTimeSeconds);
  const rpc = openRpc({ chain: name, urls, timeoutMs, chainId, maxLagSeconds, now });
  const chain = defineChain({
    id: chainId,
    name,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  });
  const client = createPublicClient({ chain, transport: custom(rpc, { retryCount: 0 }), cacheTime: 0 });
  const reader = createReader({
    chain: name,
    rpc,
    multicall,
    freshnessMs: freshnessMs ?? Math.min(MAX_FRESHNESS_MS, (blockTimeSeconds * 1000) / 8),
  });
  return { name, facts, chainId, client, reader, rpc, memoize: createMemoize() };
}

function createMemoize(): EvmChain['memoize'] {
  const memoized = new Map<string, Promise<unknown>>();
  return <T>(key: string, load: () => Promise<T>) => {
    const known = memoized.get(key);
    if (known !== undefined) return known as Promise<T>;
    const value = load();
    if (memoized.size >= MAX_MEMOIZED) memoized.delete(memoized.keys().next().value ?? '');
    memoized.set(key, value);
    value.catch(() => memoized.delete(key));
    return value;
  };
}
