import { type ChainFacts, chainFacts, type SolanaChainName } from '../../../kernel/chains.ts';
import { createMemoize, type Memoize } from '../memoize.ts';
import { openRpc, type Protocol, type Rpc } from '../rpc/rpc.ts';
import { CLOCK_SYSVAR } from './addresses.ts';
import { parseAccount } from './token-accounts.ts';

export type SolanaChain = {
  name: SolanaChainName;
  facts: ChainFacts;
  rpc: Rpc;
  /** Caches a value that never changes. Failed loads are not cached. */
  memoize: Memoize;
};

const MAX_LAG_SECONDS = 20;

export function openSolanaChain(
  name: SolanaChainName,
  urls: readonly string[],
  timeoutMs: number,
  now: () => number,
): SolanaChain {
  const facts = chainFacts(name);
  const survey = { network: facts.genesisHash, maxLagSeconds: MAX_LAG_SECONDS, now };
  const rpc = openRpc({ chain: name, protocol: SOLANA_PROTOCOL, urls, timeoutMs, ...survey });
  return { name, facts, rpc, memoize: createMemoize() };
}

export function solanaInLane(chain: SolanaChain, lane: string): SolanaChain {
  return { ...chain, rpc: chain.rpc.inLane(lane) };
}

export function providerViews(chain: SolanaChain): SolanaChain[] {
  return chain.rpc.providers().map((rpc) => ({ ...chain, rpc }));
}

/** Returns a message for each RPC endpoint that serves the wrong cluster. Skips endpoints that do not respond. */
export async function findClusterProblems({ name, facts, rpc }: SolanaChain): Promise<string[]> {
  const heads = await rpc.survey();
  return heads
    .filter(({ network }) => network !== facts.genesisHash)
    .map(
      ({ provider, network }) =>
        `RPC_URL_${name.toUpperCase()}: the endpoint of ${provider} serves the cluster with genesis hash ${network}, not ${facts.genesisHash}`,
    );
}

const RATE_LIMITED = -32429;
/** The node has the transaction, but the transaction's version is newer than the caller accepts. */
export const UNSUPPORTED_VERSION = -32015;

const SOLANA_PROTOCOL: Protocol = {
  classifyError: (method, { code }) => {
    if (code === RATE_LIMITED) return 'rate_limited';
    return method === 'sendTransaction' || code === UNSUPPORTED_VERSION ? null : 'invalid_response';
  },
  headQuery: {
    requests: [
      [{ method: 'getGenesisHash', params: [] }],
      [
        {
          method: 'getAccountInfo',
          params: [CLOCK_SYSVAR, { commitment: 'confirmed', encoding: 'base64' }],
        },
      ],
    ],
    read: ([genesis, clock]) => {
      const time = readClock(clock);
      return typeof genesis === 'string' && time !== null ? { network: genesis, ...time } : null;
    },
  },
};

export function readClock(reply: unknown): { number: bigint; timestamp: number } | null {
  const account = parseAccount((reply as { value?: unknown } | null)?.value);
  if (account === null || account.data.length < 40) return null;
  return { number: account.data.readBigUInt64LE(0), timestamp: Number(account.data.readBigInt64LE(32)) };
}
