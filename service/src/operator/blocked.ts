/** Why the operator's work has to wait; the name of an alert. Nothing is lost by it. */
export type BlockedReason =
  | 'operator_out_of_gas'
  | 'fee_cap'
  | 'fund_stopped'
  | 'role_missing'
  | 'reverts'
  | 'refused'
  | 'foreign_nonce'
  | 'unreachable';

export class Blocked extends Error {
  readonly reason: BlockedReason;
  constructor(reason: BlockedReason, message: string) {
    super(message);
    this.name = 'Blocked';
    this.reason = reason;
  }
}
