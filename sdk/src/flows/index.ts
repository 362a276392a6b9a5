export { FlowError, type FlowOptions } from './flow.ts';
export type { Eip1193Provider, EvmWallet, SolanaWallet, Wallet } from './wallet.ts';
