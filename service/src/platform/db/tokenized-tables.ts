import type { Generated } from 'kysely';

/** The tables for tokenized swaps; see `tables.ts`. */
export interface TokenizedTables {
  tokenized_orders: TokenizedOrders;
  tokenized_prices: TokenizedPrices;
}

export type TokenizedOrderState =
  | 'asking'
  | 'unknown'
  | 'attested'
  | 'live'
  | 'executed'
  | 'expired'
  | 'refused'
  | 'failed'
  | 'abandoned';

export interface TokenizedOrders {
  id: string;
  partner_id: string;
  user_id: string;
  offer_id: string;
  symbol: string;
  chain: string;
  wallet: string;
  swap: string;
  asset: string;
  token: string;
  amount: string;
  fee: Generated<string | null>;
  claim: Buffer | null;
  state: TokenizedOrderState;
  holding: boolean;
  expires_at: string;
  attestation: Generated<string | null>;
  attestation_id: Generated<string | null>;
  from_block: Generated<bigint | null>;
  check_at: Generated<string>;
  transaction_hash: Generated<Buffer | null>;
  restricted_reason: Generated<'hold' | 'sanctions' | null>;
  inserted_at: string;
  updated_at: string;
}

export interface TokenizedPrices {
  symbol: string;
  recorded_at: string;
  price: string;
  session: string;
  is_kept: boolean;
}
