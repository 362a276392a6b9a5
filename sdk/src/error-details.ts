import type { Check } from './wire.ts';

/** The eligibility checks that the user did not pass. */
type Refused = { checks?: Check[] };
type MarketRefused = {
  /** The venue's own code. */
  reason?: string;
  /** When trading resumes, if the venue has announced the time. */
  until?: string;
};
type Upstream = {
  /** Which provider, venue or chain failed. */
  upstream?: string;
};

/** The type of `errors` for each code that has specific details. Amounts are in the smallest unit. */
export type ErrorDetails = {
  /** Messages per field. */
  validation_failed: Record<string, string[]>;
  insufficient_scope: { scope: string[] };
  /** Maps the id of each unmet requirement to its status. Also contains `checks`. */
  requirements_not_met: Refused & { [requirementId: string]: string[] | Check[] | undefined };
  wallet_not_proven: Refused;
  wallet_restricted: Refused;
  wallet_sanctioned: Refused;
  account_restricted: Refused;
  offer_ended: Refused;
  offer_not_started: Refused;
  sold_out: Refused & { remaining: string };
  max_wallets_reached: { max_wallets: string[] };
  /** The current version of the document. */
  acknowledgement_outdated: { version: string; sha256: string };
  order_outstanding: { expires_at: string };
  /** The offer's fee and the contract's, in basis points. */
  fee_changed: { expected_bps: number; actual_bps: number };
  market_closed: MarketRefused;
  market_paused: MarketRefused;
  asset_paused: MarketRefused;
  side_not_allowed: MarketRefused;
  limit_reached: MarketRefused & { gross_max_notional_value?: string };
  approval_invalid: { reason: string };
  insufficient_allowance: { required: string; allowance: string; spender: string; token: string };
  insufficient_balance: { required: string; balance: string; token: string };
  contract_not_found: { address?: string };
  contract_reverted: { reason?: string };
  events_expired: {
    /** The id of the oldest event that is still available. */
    oldest: string | null;
  };
  upstream_error: Upstream;
  upstream_unavailable: Upstream;
};
