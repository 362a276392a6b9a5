/**
 * The name of the embedded Solana chain. The name has its own module, so that the service can import the name without
 * loading the virtual machine.
 */
export const SOLANA_CHAIN = 'solana_devnet';
