import type { Hex } from 'viem';

export type ChainFacts = {
  protocol: 'ethereum' | 'solana';
  /** EIP-155; null where the protocol knows none. */
  chainId: number | null;
  /** Blocks, its own included, until a transaction counts as settled. */
  confirmations: number;
  /**
   * Blocks likewise, until a commit is refunded: a fund pays out of anything that the user has committed, so its commit
   * must not be undone any more. Test chains do not wait, because an embedded one mines for transactions only.
   */
  refundDepth: number;
  explorer: string;
  /** Seconds between blocks. */
  blockTime: number;
  /** The multicall contract; where there is no code at it, calls travel as a JSON-RPC batch. */
  multicall: Hex | null;
};

const MULTICALL3: Hex = '0xca11bde05977b3631167028862be2a173976ca11';

/** All that the service knows about chains. Nothing else may ask which chain it is on. */
export const CHAIN_FACTS = {
  ethereum_mainnet: {
    protocol: 'ethereum',
    chainId: 1,
    confirmations: 12,
    refundDepth: 64,
    explorer: 'https://etherscan.io',
    blockTime: 12,
    multicall: MULTICALL3,
  },
  ethereum_sepolia: {
    protocol: 'ethereum',
    chainId: 11_155_111,
    confirmations: 1,
    refundDepth: 1,
    explorer: 'https://sepolia.etherscan.io',
    blockTime: 12,
    multicall: MULTICALL3,
  },
  base_mainnet: {
    protocol: 'ethereum',
    chainId: 8453,
    confirmations: 10,
    refundDepth: 64,
    explorer: 'https://basescan.org',
    blockTime: 2,
    multicall: MULTICALL3,
  },
  base_sepolia: {
    protocol: 'ethereum',
    chainId: 84_532,
    confirmations: 1,
    refundDepth: 1,
    explorer: 'https://sepolia.basescan.org',
    blockTime: 2,
    multicall: MULTICALL3,
  },
  solana_mainnet: {
    protocol: 'solana',
    chainId: null,
    confirmations: 32,
    refundDepth: 32,
    explorer: 'https://explorer.solana.com',
    blockTime: 0.4,
    multicall: null,
  },
  solana_devnet: {
    protocol: 'solana',
    chainId: null,
    confirmations: 32,
    refundDepth: 32,
    explorer: 'https://explorer.solana.com/?cluster=devnet',
    blockTime: 0.4,
    multicall: null,
  },
} as const satisfies Record<string, ChainFacts>;

export type ChainName = keyof typeof CHAIN_FACTS;

export type EvmChainName = {
  [Name in ChainName]: (typeof CHAIN_FACTS)[Name]['protocol'] extends 'ethereum' ? Name : never;
}[ChainName];

export const EVM_CHAIN_NAMES = (Object.keys(CHAIN_FACTS) as ChainName[]).filter(
  (name): name is EvmChainName => CHAIN_FACTS[name].protocol === 'ethereum',
);

export function chainFacts(chain: ChainName): ChainFacts {
  return CHAIN_FACTS[chain];
}
