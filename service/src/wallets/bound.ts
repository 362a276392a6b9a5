import type { Context } from '../context.ts';
import { invalidField } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import type { OfferOption } from '../offers/store.ts';
import { listBindings } from './store.ts';

const WALLET_REQUIREMENTS: readonly string[] = ['external_wallet', 'whitelisted_wallet'];

/**
 * Throws `validation_failed` unless the user has bound this wallet to the option. Any bound wallet meets a wallet
 * requirement, but the money or the asset must move through one of the bound wallets. Passes if the option requires none.
 */
export async function assertWalletBound(
  { db }: Pick<Context, 'db'>,
  { userId }: UserCaller,
  { id, requirements }: OfferOption,
  wallet: string,
): Promise<void> {
  if (!requirements.some(({ type }) => WALLET_REQUIREMENTS.includes(type))) return;
  const bindings = await listBindings(db, id, userId, wallet);
  if (!bindings.some(({ address, user_id }) => address === wallet && user_id === userId))
    throw invalidField('wallet_address', 'is not bound to this option');
}
