import { createPublicClient, custom, defineChain, type PublicClient } from 'viem';
import { type ChainFacts, chainFacts, type EvmChainName } from '../../../kernel/chains.ts';
import { createMemoize, type Memoize } from '../memoize.ts';
import { openRpc, type Rpc } from '../rpc/rpc.ts';
import { EVM_PROTOCOL } from './protocol.ts';
import { createReader, type Reader } from './reads.ts';

export type EvmChain = {
  name: EvmChainName;
  facts: ChainFacts;
  chainId: number;
  /** A viem client for calls other than contract reads. Pass its errors to `findApiError`. */
  client: PublicClient;
  reader: Reader;
  rpc: Rpc;
  /** Caches a value that never changes. Failed loads are not cached. */
  memoize: Memoize;
};

const MAX_FRESHNESS_MS = 500;
/** Endpoints that lag by more than this are tried last. A lag of up to `MIN_LAG_SECONDS` is always allowed. */
const MAX_LAG_BLOCKS = 5;
const MIN_LAG_SECONDS = 20;

/** Returns the part of the chain that reads contracts, with a reader that bypasses the read cache. */
export function uncached({ reader }: EvmChain): Pick<EvmChain, 'reader'> {
  return { reader: { ...reader, read: reader.readNow } };
}

/** The partner's calls and reads wait in `lane`. Lanes take turns, so one partner's backlog does not delay others. */
export function evmInLane(chain: EvmChain, lane: string): EvmChain {
  const rpc = chain.rpc.inLane(lane);
  let client: PublicClient | undefined;
  return {
    ...chain,
    rpc,
    reader: chain.reader.inLane(lane),
    // Created on first use, because a client takes kilobytes of memory and most partners use few chains.
    get client() {
      client ??= createClient(chain, rpc);
      return client;
    },
  };
}

export function openEvmChain(
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
  const survey = { network: String(chainId), maxLagSeconds, now };
  const rpc = openRpc({ chain: name, protocol: EVM_PROTOCOL, urls, timeoutMs, ...survey });
  const reader = createReader({
    chain: name,
    rpc: rpc.inLane('reads'),
    multicall,
    freshnessMs: freshnessMs ?? Math.min(MAX_FRESHNESS_MS, (blockTimeSeconds * 1000) / 8),
  });
  const client = createClient({ name, chainId }, rpc);
  return { name, facts, chainId, client, reader, rpc, memoize: createMemoize() };
}

function createClient({ name, chainId }: Pick<EvmChain, 'name' | 'chainId'>, rpc: Rpc): PublicClient {
  const chain = defineChain({
    id: chainId,
    name,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  });
  return createPublicClient({ chain, transport: custom(rpc, { retryCount: 0 }), cacheTime: 0 });
}
