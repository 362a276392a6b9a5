import type { ColumnType, Generated, GeneratedAlways } from 'kysely';

/** The tables for participations, for their settlement and for events; see `tables.ts`. */
export interface SettlementTables {
  events: Events;
  partner_sequences: PartnerSequences;
  expired_events: ExpiredEvents;
  operator_keys: OperatorKeys;
  operator_key_uses: OperatorKeyUses;
  operator_transactions: OperatorTransactions;
  operator_attempts: OperatorAttempts;
  participations: Participations;
  settlement_pauses: SettlementPauses;
  refund_requests: RefundRequests;
  refund_limits: RefundLimits;
  reconcile_passes: ReconcilePasses;
  reconcile_differences: ReconcileDifferences;
}

export interface Events {
  id: string;
  written: GeneratedAlways<bigint>;
  /** Null until `placeEvents` assigns a position, which happens after the event is committed. */
  position: Generated<bigint | null>;
  partner_id: string;
  user_id: string | null;
  type: string;
  /** Read as an object, written as JSON text. */
  data: ColumnType<Record<string, unknown>, string, string>;
  inserted_at: string;
  /** The event's sequence number among the partner's events; assigned together with `position`. */
  sequence: Generated<bigint | null>;
  request_id: string | null;
  changes: ColumnType<Record<string, unknown> | null, string | null, never>;
  related: ColumnType<RelatedResource | null, string | null, never>;
}

/** The resource that an event is about. */
export type RelatedResource = { object: string; id: string; path: string };

export interface PartnerSequences {
  partner_id: string;
  last: bigint;
}

export interface ExpiredEvents {
  id: string;
  partner_id: string;
  user_id: string | null;
  expired_at: Generated<string>;
}

export interface OperatorKeys {
  chain: string;
  address: string;
  next_nonce: bigint | null;
  seen_nonce: Generated<bigint | null>;
  epoch: bigint;
  node: number;
  lease_until: string;
  /** When a node last completed a settlement round with this key; see `domain/settlement/round.ts`. */
  good_round_at: Generated<string | null>;
}

/**
 * Shows when a Solana key was used in one role. The key may sign from block height `first_height` on. If another key
 * was started in the role later, this key must also wait until the other key's transactions have expired (see
 * `readFirstHeight`). `alive_height` is the block height at which the key was last in use.
 */
export interface OperatorKeyUses {
  chain: string;
  address: string;
  role: 'commit' | 'refund';
  first_height: bigint;
  alive_height: bigint;
}

export interface OperatorTransactions {
  id: string;
  chain: string;
  signer: string;
  /** Null on chains whose transactions have no nonces. */
  nonce: bigint | null;
  kind: 'commit' | 'remit' | 'fill' | 'revoke';
  target: string;
  data: Buffer;
  /** The transaction's limit, in gas or in compute units. */
  gas: bigint;
  /** Only on chains without nonces: the account whose existence proves that the transaction succeeded. */
  receipt: Generated<string | null>;
  receipt_closed_at: Generated<string | null>;
  state: Generated<'open' | 'settled' | 'final' | 'displaced'>;
  mined_hash: Generated<Buffer | null>;
  block_number: Generated<bigint | null>;
  block_hash: Generated<Buffer | null>;
  succeeded: Generated<boolean | null>;
  fee_paid: Generated<string | null>;
  /** What an operator has requested for an unmined transaction. */
  requested: Generated<'bump' | 'cancel' | null>;
  /** Why the operator's last request was not carried out. */
  request_refusal: Generated<string | null>;
  inserted_at: Generated<string>;
}

export interface OperatorAttempts {
  hash: Buffer;
  transaction_id: string;
  raw: Buffer;
  max_fee: string;
  priority_fee: string;
  /** The last block height at which the attempt can be mined; null if it does not expire. */
  last_valid_height: Generated<bigint | null>;
  inserted_at: Generated<string>;
  sent_at: Generated<string | null>;
}

export type ParticipationStatus =
  | 'prepared'
  | 'pending'
  | 'submitted'
  | 'completed'
  | 'failed'
  | 'remit_submitted'
  | 'remitted'
  | 'remit_failed';

export interface Participations {
  id: string;
  partner_id: string;
  user_id: string;
  offer_id: string;
  offer_option_id: string;
  status: ParticipationStatus;
  reason: string | null;
  amount: string;
  asset_id: string;
  asset_code: string;
  asset_name: string;
  asset_digits: number;
  chain: string;
  wallet_address: string;
  fund_address: string;
  token_address: string;
  source_address: string | null;
  vault_address: string | null;
  approval_hash: Buffer;
  holds_approval: Generated<boolean>;
  prepared_at: string;
  check_at: Generated<string>;
  commit_id: Generated<string | null>;
  commit_row: Generated<number | null>;
  committed: Generated<boolean | null>;
  remit_id: Generated<string | null>;
  remit_row: Generated<number | null>;
  frozen_reason: Generated<'hold' | 'sanctions' | null>;
  resumed_at: Generated<string | null>;
  ending_reason: Generated<string | null>;
  price_usd: string | null;
  inserted_at: string;
  updated_at: string;
}

export interface SettlementPauses {
  /** The name of a chain, the id of an offer, or `*` for all chains. */
  subject: string;
  reason: 'operator' | 'unreconciled';
  message: string;
  inserted_at: Generated<string>;
}

export interface RefundRequests {
  id: string;
  operator: string;
  participation_ids: string[];
  amount_usd: string;
  state: 'allowed' | 'unconfirmed' | 'confirmed';
  confirmed_by: Generated<string | null>;
  inserted_at: Generated<string>;
}

export interface RefundLimits {
  id: GeneratedAlways<bigint>;
  limit_usd: string | null;
  recorded_at: Generated<string>;
}

export interface ReconcilePasses {
  chain: string;
  /** The last block that was compared with our records; null until the first pass has finished. */
  to_block: bigint | null;
  started_at: string;
  finished_at: Generated<string | null>;
  /**
   * On Solana, each pass also compares a few older participations again, in the order of their ids. `cursor` is the id
   * of the participation that was compared last. If `cursor` is null, the next pass starts with the first
   * participation.
   */
  cursor: Generated<string | null>;
}

export interface ReconcileDifferences {
  chain: string;
  key: string;
  offer_ids: string[];
  participation_ids: string[];
  transaction_hashes: string[];
  message: string;
  found_at: Generated<string>;
  accepted_at: Generated<string | null>;
}
