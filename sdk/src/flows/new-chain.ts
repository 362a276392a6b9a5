import { CHAINS, chainIdOf } from '../chains.ts';
import type { EvmChain } from '../wire.ts';

/** EIP-3085's description of a chain that a wallet does not know. */
export function addChain(chain: EvmChain, rpcUrls: readonly string[]) {
  return {
    chainId: `0x${chainIdOf(chain).toString(16)}`,
    chainName: CHAINS[chain].name,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls,
  };
}
