/** The name of the embedded Solana chain. Apart, because the service must not load the virtual machine for it. */
export const SOLANA_CHAIN = 'solana_devnet';
