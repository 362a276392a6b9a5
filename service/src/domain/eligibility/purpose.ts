import { WALLET_KINDS } from '../../kernel/model/requirement.ts';
import type { CheckCode } from './schema.ts';

/**
 * The action for which eligibility is checked. Adding a wallet to an allow-list involves three purposes in turn:
 * - `allow_wallet`: before the wallet proof is verified.
 * - `admit`: after the proof is verified, before the permission is issued.
 * - `permission`: later, to check whether the user may keep the permission.
 */
export type Purpose = 'bind' | 'allow_wallet' | 'admit' | 'permission' | 'participate' | 'commit' | 'order';

const ACCOUNT: readonly CheckCode[] = ['account', 'sanctions'];
const RULES: readonly CheckCode[] = [
  'country_policy',
  'identity_verification',
  'kyc_approved',
  'accreditation',
  'document',
  'jurisdiction',
];
const WALLET_REQUIREMENTS = [...WALLET_KINDS] as CheckCode[];

/**
 * The checks for each purpose. `commit` and `permission` leave out `acknowledgement`: a new version of a document must
 * not affect participations that are already accepted or wallets that are already allowed. The user has to acknowledge
 * the new version only before taking another action.
 */
export const CHECKS: Readonly<Record<Purpose, ReadonlySet<CheckCode>>> = {
  bind: new Set(ACCOUNT),
  allow_wallet: new Set([...ACCOUNT, ...RULES, 'acknowledgement']),
  admit: new Set([...ACCOUNT, ...RULES, 'acknowledgement', 'wallet_proof']),
  permission: new Set([...ACCOUNT, ...RULES, 'wallet_proof']),
  participate: new Set([
    ...ACCOUNT,
    ...RULES,
    'acknowledgement',
    ...WALLET_REQUIREMENTS,
    'offer_window',
    'wallet_proof',
    'supply',
    'allow_list',
  ]),
  commit: new Set([...ACCOUNT, ...RULES, ...WALLET_REQUIREMENTS, 'wallet_proof']),
  order: new Set([
    ...ACCOUNT,
    ...RULES,
    'acknowledgement',
    ...WALLET_REQUIREMENTS,
    'offer_window',
    'wallet_proof',
    'allow_list',
  ]),
};
