/**
 * The name of the embedded Solana chain. It has its own module, so that the service can import it without loading the
 * virtual machine.
 */
export const SOLANA_CHAIN = 'solana_devnet';
