'use client';

export { type UseWagmiWalletOptions, useWagmiWallet } from './use-wagmi-wallet.ts';
