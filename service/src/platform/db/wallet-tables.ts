import type { Generated } from 'kysely';

/** The tables for wallet challenges, connected wallets and allow-lists; see `tables.ts`. */
export interface WalletTables {
  wallet_challenges: WalletChallenges;
  option_addresses: OptionAddresses;
  allow_verifications: AllowVerifications;
  wallet_proofs: WalletProofs;
  wallet_owners: WalletOwners;
  allow_revocations: AllowRevocations;
  wallet_owner_keys: { fingerprint: Buffer; sealed: Buffer };
}

export interface WalletProofs {
  partner_id: string;
  address: string;
  /** `*` for the kind `key`, because a key's signature is valid on every chain of the protocol. */
  chain: string;
  protocol: 'ethereum' | 'solana';
  user_id: string;
  kind: 'key' | 'contract';
  text: string | null;
  signature: string | null;
  proved_at: string;
}

export interface WalletOwners {
  hash: Buffer;
  user_id: string;
}

export interface WalletChallenges {
  client_id: string;
  user_id: string;
  chain: string;
  address: string;
  id: string;
  text: string;
  expires_at: string;
  consumed_at: string | null;
}

export interface OptionAddresses {
  id: string;
  option_id: string;
  user_id: string;
  protocol: 'ethereum' | 'solana';
  address: string;
  partner_id: string;
  proved_chain: string;
  proved_at: string;
  created_at: string;
}

export interface AllowVerifications {
  id: string;
  offer_id: string;
  user_id: string;
  partner_id: string;
  chain: string;
  contract: string;
  wallet: string;
  state: 'permitted' | 'allowed' | 'expired' | 'revoking' | 'revoked';
  deadline: string;
  inserted_at: string;
  updated_at: string;
  check_at: Generated<string>;
}

export interface AllowRevocations {
  id: string;
  chain: string;
  contract: string;
  wallet: string;
  state: Generated<'waiting' | 'sent' | 'done'>;
  transaction_id: Generated<string | null>;
  send_at: Generated<string>;
  inserted_at: string;
}
