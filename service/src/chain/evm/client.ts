import { createPublicClient, custom, defineChain, type PublicClient } from 'viem';
import { ApiError } from '../../errors.ts';
import { type ChainFacts, chainFacts, EVM_CHAIN_NAMES, type EvmChainName } from '../chains.ts';
import { createReader, type Reader } from './reads.ts';
import { openRpc, type Rpc } from './rpc.ts';

/** One EVM chain that the service can reach. */
export type EvmChain = {
  name: EvmChainName;
  facts: ChainFacts;
  chainId: number;
  /** For everything but contract reads. What its transport throws is found by `findApiError`. */
  client: PublicClient;
  reader: Reader;
  rpc: Rpc;
  /** Keeps an answer that cannot change; failures are not kept. */
  memoize<T>(key: string, ask: () => Promise<T>): Promise<T>;
};

export type Chains = {
  /** Throws `chain_not_supported` when the chain has no RPC. */
  evm(name: string): EvmChain;
  all(): EvmChain[];
  close(): Promise<void>;
};

export type ChainsOptions = {
  /** The RPC URLs of each chain, first choice first. */
  urls: Partial<Record<EvmChainName, readonly string[]>>;
  /** Milliseconds for one call. */
  timeout?: number;
  /** See `createReader`; derived from the block time when left out. */
  freshness?: number | null;
};

const TIMEOUT = 4_000;
const KEPT_LIMIT = 10_000;

/** The same chain, whose every contract read asks it. */
export function uncached(chain: EvmChain): EvmChain {
  const { readNow } = chain.reader;
  return { ...chain, reader: { read: readNow, readNow } };
}

export function openChains({ urls, timeout = TIMEOUT, freshness }: ChainsOptions): Chains {
  const opened = new Map<string, EvmChain>();
  for (const name of EVM_CHAIN_NAMES) {
    const own = urls[name];
    if (own !== undefined && own.length > 0) opened.set(name, openChain(name, own, timeout, freshness));
  }
  return {
    evm: (name) => {
      const found = opened.get(name);
      if (found === undefined)
        throw new ApiError('chain_not_supported', { chain: [`${name} is not supported here`] });
      return found;
    },
    all: () => [...opened.values()],
    close: async () => void (await Promise.all([...opened.values()].map(({ rpc }) => rpc.close()))),
  };
}

function openChain(
  name: EvmChainName,
  urls: readonly string[],
  timeout: number,
  freshness: number | null | undefined,
): EvmChain {
  const facts = chainFacts(name);
  const { blockTime, multicall } = facts;
  const chainId = facts.chainId ?? 0;
  const rpc = openRpc({ chain: name, urls, timeoutMs: timeout });
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
    freshness: freshness ?? Math.min(500, (blockTime * 1000) / 8),
  });
  return { name, facts, chainId, client, reader, rpc, memoize: createKeeper() };
}

function createKeeper(): EvmChain['memoize'] {
  const kept = new Map<string, Promise<unknown>>();
  return <T>(key: string, ask: () => Promise<T>) => {
    const known = kept.get(key);
    if (known !== undefined) return known as Promise<T>;
    const answer = ask();
    if (kept.size >= KEPT_LIMIT) kept.delete(kept.keys().next().value ?? '');
    kept.set(key, answer);
    answer.catch(() => kept.delete(key));
    return answer;
  };
}
