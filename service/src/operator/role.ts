/**
 * What a key signs: commits and revocations, refunds, requests of tokenized quotes, or permissions of allow-lists. Each
 * role can have its own key, also per chain.
 */
export type KeyRole = SendingRole | 'quote' | 'supplier';

/** The roles that send transactions. The keys of the others hold no gas and have no nonces. */
export type SendingRole = 'commit' | 'refund';
