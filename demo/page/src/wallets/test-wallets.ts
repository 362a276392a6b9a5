import { CHAINS } from '@causeway/sdk';
import type { WalletConnector } from '@causeway/sdk/react';
import { type ChainConfig, isEvmConfig } from '../config.ts';
import solanaIcon from '../images/solana-wallet.svg';
import icon from '../images/test-wallet.svg';

/**
 * Returns test wallets, for use without a browser extension. The keys are created in this browser and never leave it.
 */
export function testWallets(chains: readonly ChainConfig[]): WalletConnector[] {
  const evmChains = chains.filter(isEvmConfig);
  const solana = chains.find(({ chain }) => CHAINS[chain].protocol === 'solana');
  const evm = (id: string, name: string): WalletConnector => {
    const open = async () => (await import('./test-wallet.ts')).openTestWallet(id, name, evmChains);
    return { id, name, icon, protocol: 'ethereum', connect: open, restore: open };
  };
  const openSolana = async () =>
    (await import('./test-wallet.ts')).openSolanaTestWallet('Solana test wallet', solana);
  return [
    evm('harbour-test-wallet', 'Test wallet'),
    evm('harbour-test-wallet-2', 'Second test wallet'),
    {
      id: 'harbour-solana-wallet',
      name: 'Solana test wallet',
      icon: solanaIcon,
      protocol: 'solana',
      connect: openSolana,
      restore: openSolana,
    },
  ];
}
