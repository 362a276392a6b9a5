/** Why the operator's work has to wait; the name of an alert. Nothing is lost by it. */
export type WaitReason =
  | 'operator_out_of_gas'
  | 'fee_cap'
  | 'fund_stopped'
  | 'role_missing'
  | 'reverts'
  | 'refused'
  | 'foreign_nonce'
  | 'unreachable';

export class MustWait extends Error {
  readonly reason: WaitReason;
  constructor(reason: WaitReason, message: string) {
    super(message);
    this.name = 'MustWait';
    this.reason = reason;
  }
}
