import type { Hex } from 'viem';
import type { Context } from '../context.ts';
import { invalidField } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import type { OfferOption } from '../offers/stored-offer.ts';
import { isAddressBound } from './store.ts';

const WALLET_REQUIREMENTS: readonly string[] = ['external_wallet', 'whitelisted_wallet'];

/**
 * Throws `validation_failed` unless the user has bound this wallet to the option. An option without a wallet
 * requirement accepts any wallet.
 */
export async function assertWalletBound(
  { db }: Pick<Context, 'db'>,
  { userId }: Pick<UserCaller, 'userId'>,
  { id, requirements }: Pick<OfferOption, 'id' | 'requirements'>,
  wallet: Hex,
): Promise<void> {
  if (!requirements.some(({ type }) => WALLET_REQUIREMENTS.includes(type))) return;
  if (!(await isAddressBound(db, id, userId, wallet)))
    throw invalidField('wallet_address', 'is not bound to this option');
}
