import { UpstreamFailure, upstreamError } from '../outbound/failure.ts';

/** Why the operator currently cannot send transactions. Also the `reason` label of the settlement alert. */
export type BlockedReason =
  | 'operator_out_of_gas'
  | 'fee_cap'
  | 'daily_limit'
  | 'fund_stopped'
  | 'role_missing'
  | 'reverts'
  | 'refused'
  | 'foreign_nonce'
  | 'unreconciled'
  | 'transfer_differs'
  | 'transfers_refused'
  | 'refund_allowance'
  | 'vault_balance'
  | 'vault_frozen'
  | 'foreign_transaction'
  | 'providers_disagree'
  | 'signer_policy'
  | 'unreachable'
  | 'operator_key_missing';

/** Thrown if work cannot proceed now. The work stays queued, and a later settlement round retries it. */
export class Blocked extends Error {
  readonly reason: BlockedReason;
  constructor(reason: BlockedReason, message: string) {
    super(message);
    this.name = 'Blocked';
    this.reason = reason;
  }
}

/** Hides from API callers why the key refused to sign. Rethrows any other error. */
export function asUnavailable(error: unknown): never {
  if (!(error instanceof Blocked)) throw error;
  throw upstreamError('signer', new UpstreamFailure('not_sent', error.message, { retryAfterSeconds: 3600 }));
}
