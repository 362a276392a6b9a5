import { CHAINS, chainIdOf } from '../chains.ts';
import type { EvmChain } from '../wire.ts';

/** Returns the parameters of `wallet_addEthereumChain` (EIP-3085). */
export function addChainParameters(chain: EvmChain, rpcUrls: readonly string[]) {
  return {
    chainId: `0x${chainIdOf(chain).toString(16)}`,
    chainName: CHAINS[chain].name,
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls,
  };
}
