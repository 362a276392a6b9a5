import { WALLET_KINDS } from '../requirements/schema.ts';
import type { CheckCode } from './schema.ts';

/**
 * What a gate protects. `admit` repeats the checks of `allow_wallet` once the wallet is proven, before a permission is
 * issued. `permission` checks whether an issued permission still holds.
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
 * The checks that each gate uses. A user must acknowledge a new version of a document only before a new step. A new
 * version neither fails accepted participations nor takes wallets off allow-lists, so `commit` and `permission` leave
 * out `acknowledgement`.
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
