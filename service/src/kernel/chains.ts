import type { Hex } from 'viem';

export type ChainFacts = {
  protocol: 'ethereum' | 'solana';
  /** EIP-155 chain id; null for protocols without one. */
  chainId: number | null;
  /** Identifies a Solana cluster; null for other protocols. */
  genesisHash: string | null;
  /** How many blocks a transaction needs, including its own, before it counts as settled. */
  confirmations: number;
  /**
   * A commit can be refunded only after this many blocks. Before that, a reorganization could undo the commit, and a
   * first-generation fund would pay the refund from the user's other commits. Test chains use 1, because embedded
   * chains mine only on demand.
   */
  refundDepth: number;
  /**
   * Whether to use the node's `safe` and `finalized` tags instead of `confirmations` and `refundDepth`. If true, those
   * numbers apply only to nodes that do not support the tags. Test chains do not use the tags, because embedded chains
   * mine only on demand.
   */
  finalityTags: boolean;
  explorer: string;
  blockTimeSeconds: number;
  /** Address of Multicall3. If the chain has no code at this address, reads use a JSON-RPC batch instead. */
  multicall: Hex | null;
};

const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11';

/** Everything the service knows about each chain. No other code may branch on the chain name. */
export const CHAIN_FACTS = {
  ethereum_mainnet: {
    protocol: 'ethereum',
    chainId: 1,
    genesisHash: null,
    confirmations: 12,
    refundDepth: 96,
    finalityTags: true,
    explorer: 'https://etherscan.io',
    blockTimeSeconds: 12,
    multicall: MULTICALL3,
  },
  ethereum_sepolia: {
    protocol: 'ethereum',
    chainId: 11_155_111,
    genesisHash: null,
    confirmations: 1,
    refundDepth: 1,
    finalityTags: false,
    explorer: 'https://sepolia.etherscan.io',
    blockTimeSeconds: 12,
    multicall: MULTICALL3,
  },
  base_mainnet: {
    protocol: 'ethereum',
    chainId: 8453,
    genesisHash: null,
    confirmations: 10,
    refundDepth: 900,
    finalityTags: true,
    explorer: 'https://basescan.org',
    blockTimeSeconds: 2,
    multicall: MULTICALL3,
  },
  base_sepolia: {
    protocol: 'ethereum',
    chainId: 84_532,
    genesisHash: null,
    confirmations: 1,
    refundDepth: 1,
    finalityTags: false,
    explorer: 'https://sepolia.basescan.org',
    blockTimeSeconds: 2,
    multicall: MULTICALL3,
  },
  solana_mainnet: {
    protocol: 'solana',
    chainId: null,
    genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
    confirmations: 32,
    refundDepth: 32,
    finalityTags: false,
    explorer: 'https://explorer.solana.com',
    blockTimeSeconds: 0.4,
    multicall: null,
  },
  solana_devnet: {
    protocol: 'solana',
    chainId: null,
    genesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG',
    confirmations: 32,
    refundDepth: 32,
    finalityTags: false,
    explorer: 'https://explorer.solana.com/?cluster=devnet',
    blockTimeSeconds: 0.4,
    multicall: null,
  },
} as const satisfies Record<string, ChainFacts>;

export type ChainName = keyof typeof CHAIN_FACTS;

type NameOf<Protocol> = {
  [Name in ChainName]: (typeof CHAIN_FACTS)[Name]['protocol'] extends Protocol ? Name : never;
}[ChainName];

export type EvmChainName = NameOf<'ethereum'>;

export type SolanaChainName = NameOf<'solana'>;

export const CHAIN_NAMES = Object.keys(CHAIN_FACTS) as ChainName[];

export const EVM_CHAIN_NAMES = CHAIN_NAMES.filter(
  (name): name is EvmChainName => CHAIN_FACTS[name].protocol === 'ethereum',
);

export const SOLANA_CHAIN_NAMES = CHAIN_NAMES.filter(
  (name): name is SolanaChainName => CHAIN_FACTS[name].protocol === 'solana',
);

export function chainFacts(chain: ChainName): ChainFacts {
  return CHAIN_FACTS[chain];
}
