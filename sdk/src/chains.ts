import type { Chain, EvmChain } from './wire.ts';

export type SolanaChain = Exclude<Chain, EvmChain>;

type ChainFacts = { name: string; protocol: 'ethereum' | 'solana'; chainId?: number; isTest: boolean };

/** Block explorer URLs for transactions. `*` stands for the transaction hash. */
const EXPLORERS: Readonly<Record<Chain, string>> = {
  ethereum_mainnet: 'https://etherscan.io/tx/*',
  ethereum_sepolia: 'https://sepolia.etherscan.io/tx/*',
  base_mainnet: 'https://basescan.org/tx/*',
  base_sepolia: 'https://sepolia.basescan.org/tx/*',
  solana_mainnet: 'https://explorer.solana.com/tx/*',
  solana_devnet: 'https://explorer.solana.com/tx/*?cluster=devnet',
};

/**
 * The supported chains. `chainId` is the EIP-155 id, which only EVM chains have.
 *
 * @example
 * ```ts
 * import { CHAINS } from '@causeway/sdk';
 *
 * console.log(CHAINS.base_sepolia.name, CHAINS.base_sepolia.chainId); // "Base Sepolia", 84532
 * ```
 */
export const CHAINS: Readonly<Record<Chain, ChainFacts>> = {
  ethereum_mainnet: { name: 'Ethereum', protocol: 'ethereum', chainId: 1, isTest: false },
  ethereum_sepolia: { name: 'Ethereum Sepolia', protocol: 'ethereum', chainId: 11155111, isTest: true },
  base_mainnet: { name: 'Base', protocol: 'ethereum', chainId: 8453, isTest: false },
  base_sepolia: { name: 'Base Sepolia', protocol: 'ethereum', chainId: 84532, isTest: true },
  solana_mainnet: { name: 'Solana', protocol: 'solana', isTest: false },
  solana_devnet: { name: 'Solana Devnet', protocol: 'solana', isTest: true },
};

/**
 * Returns true for an EVM chain. Only token sales are available on Solana: swaps and contract reads need an EVM chain.
 *
 * @example
 * ```ts
 * import { chainIdOf, isEvmChain } from '@causeway/sdk';
 *
 * const chain: string = 'ethereum_sepolia';
 * if (isEvmChain(chain)) console.log(chainIdOf(chain));
 * ```
 */
export function isEvmChain(chain: string): chain is EvmChain {
  return Object.hasOwn(CHAINS, chain) && CHAINS[chain as Chain].protocol === 'ethereum';
}

/**
 * Returns the EIP-155 id of an EVM chain. Throws `TypeError` for any other chain.
 *
 * @example
 * ```ts
 * import { chainIdOf } from '@causeway/sdk';
 *
 * console.log(chainIdOf('ethereum_sepolia')); // 11155111
 * ```
 */
export function chainIdOf(chain: EvmChain): number {
  const { chainId } = CHAINS[chain];
  if (chainId === undefined)
    throw new TypeError(
      `${chain} has no chain id because it is not an EVM chain; check it with isEvmChain() first`,
    );
  return chainId;
}

/**
 * Returns the URL of a transaction in a public block explorer. Explorers cannot find transactions on the sandbox's
 * embedded chains.
 *
 * @example
 * ```ts
 * import { transactionUrl } from '@causeway/sdk';
 *
 * console.log(transactionUrl('base_sepolia', '0x1234')); // "https://sepolia.basescan.org/tx/0x1234"
 * ```
 */
export function transactionUrl(chain: Chain, hash: string): string {
  return EXPLORERS[chain].replace('*', encodeURIComponent(hash));
}
