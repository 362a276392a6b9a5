import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import type { Offer } from '../../platform/context/ports.ts';
import type { UserFacts } from '../requirements/status.ts';

/** The facts that decide whether a user may use one option. All of them are read before the decision. */
export type Situation = {
  /** Epoch milliseconds. */
  now: number;
  offer: Pick<Offer, 'id' | 'opens' | 'ends'>;
  option: Pick<OfferOption, 'id' | 'accreditation_days' | 'requirements'>;
  user: UserFacts;
  isHeld: boolean;
  /**
   * Whether `wallet` is on the sanctions list. If `wallet` is null: whether all wallets that the user has proven are on
   * the list; false if the user has proven none.
   */
  isSanctioned: boolean;
  /** The result of the installation's country policy, which applies to every offer. */
  countryPolicy: 'passed' | 'waiting' | 'action_needed' | 'rejected';
  /** The wallet to check; null if no wallet is given. */
  wallet: { address: string; chain: string | null; isBound: boolean } | null;
  proof: 'proven' | 'not_proven' | 'unreachable';
  /**
   * `none`: the contracts to check have no allow-list, or the list was not read because the check is not needed.
   * `missing`: the wallet is not on the list, but we can add it. `issuer`: the wallet is not on the list, and only the
   * issuer can add it.
   */
  allowList: 'none' | 'allowed' | 'missing' | 'issuer' | 'unreachable';
  /**
   * The remaining supply of the option, in the smallest unit of the first funding asset. Null if the supply has no cap.
   */
  remainingSupply: bigint | null;
};
