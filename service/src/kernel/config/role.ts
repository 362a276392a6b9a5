/**
 * What a key signs. `commit`: commits and revocations. `refund`: refunds. `quote`: requests for tokenized quotes.
 * `supplier`: allow-list permissions. Each role can have its own key, and a different key on each chain.
 */
export const KEY_ROLES = ['commit', 'refund', 'quote', 'supplier'] as const;
export type KeyRole = (typeof KEY_ROLES)[number];

/** The roles that send transactions. The keys of the other roles pay no gas and use no nonces. */
export const SENDING_ROLES = ['commit', 'refund'] as const;
export type SendingRole = (typeof SENDING_ROLES)[number];

/** The role that sends each kind of transaction. Null for `fill`, which only uses up a nonce: any role can send it. */
export const ROLE_OF_KIND = { commit: 'commit', revoke: 'commit', remit: 'refund', fill: null } as const;

export function isKeyRole(name: string): name is KeyRole {
  return KEY_ROLES.some((role) => role === name);
}
