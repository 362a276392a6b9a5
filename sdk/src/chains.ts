import type { Chain, EvmChain } from './wire.ts';

type ChainFacts = { name: string; protocol: 'ethereum' | 'solana'; chainId?: number; isTest: boolean };

/**
 * The supported chains. EVM chains have their EIP-155 id.
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
 * Returns true for an EVM chain. Contracts and approvals exist on EVM chains only; on Solana only wallets are supported.
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
