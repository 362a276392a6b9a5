import type { Offer } from '../offers/catalogue.ts';
import type { OfferOption } from '../offers/stored-offer.ts';
import type { UserFacts } from '../requirements/status.ts';

/** The facts that determine whether a user may use one option. Plain data, read in advance. */
export type Situation = {
  /** Epoch milliseconds. */
  now: number;
  offer: Pick<Offer, 'id' | 'opens' | 'ends'>;
  option: Pick<OfferOption, 'id' | 'accreditation_days' | 'requirements'>;
  user: UserFacts;
  isHeld: boolean;
  /** Whether the named wallet is on the sanctions list. If no wallet is named: whether all proven wallets are. */
  isSanctioned: boolean;
  /** The result of the installation's country policy, which applies to every offer. */
  countryPolicy: 'passed' | 'waiting' | 'action_needed' | 'rejected';
  /** The named wallet; null if no wallet is named. */
  wallet: { address: string; chain: string | null; isBound: boolean } | null;
  proof: 'proven' | 'not_proven' | 'unreachable';
  /**
   * `none`: the offer's contract keeps no allow-list. `issuer`: the wallet is missing, and only the issuer can add it.
   */
  allowList: 'none' | 'allowed' | 'missing' | 'issuer' | 'unreachable';
  /**
   * What is left of a capped supply, in the smallest unit of the first funding asset. Null if there is no
   * cap.
   */
  remainingSupply: bigint | null;
};
