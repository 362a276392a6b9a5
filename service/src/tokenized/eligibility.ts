import type { Hex } from 'viem';
import { readAuthorized } from '../chain/fund-swap.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import type { Offer } from '../offers/catalogue.ts';
import type { OfferContract, OfferOption } from '../offers/store.ts';
import { assertNotSanctioned } from '../wallets/sanctions.ts';
import { listBindings } from '../wallets/store.ts';

const WALLET_KINDS = ['external_wallet', 'whitelisted_wallet'];

/** Throws unless this user may trade the offer with this wallet. */
export async function assertEligible(
  ctx: Context,
  caller: UserCaller,
  offer: Offer,
  contract: OfferContract,
  wallet: Hex,
): Promise<void> {
  const option = offer.options[0];
  if (option === undefined) throw new ApiError('not_found');
  assertRequirementsMet(option);
  assertNotSanctioned(ctx, wallet);
  await assertBound(ctx, caller, option, wallet);
  if (contract.allow_list === null) return;
  if (!(await readAuthorized(ctx.chains.evm(contract.chain), contract.allow_list, wallet)))
    throw new ApiError('requirements_not_met', { wallet_address: ['the wallet is not allowed yet'] });
}

/** No fact about a user is known here but the wallets, so every other requirement counts as not begun. */
function assertRequirementsMet({ requirements }: OfferOption): void {
  const open = requirements.filter(({ type }) => !WALLET_KINDS.includes(type));
  if (open.length > 0)
    throw new ApiError(
      'requirements_not_met',
      Object.fromEntries(open.map(({ id }) => [id, ['not_started']])),
    );
}

/** An option that asks for a wallet is traded with that wallet. */
async function assertBound(
  ctx: Context,
  { userId }: UserCaller,
  { id, requirements }: OfferOption,
  wallet: Hex,
): Promise<void> {
  const asked = requirements.filter(({ type }) => WALLET_KINDS.includes(type));
  if (asked.length === 0) return;
  const bound = await listBindings(ctx.db, id, userId, wallet);
  const mine = bound.filter(({ user_id }) => user_id === userId);
  if (mine.some(({ address }) => address === wallet)) return;
  const status = mine.length === 0 ? 'not_started' : 'this wallet is not bound to the option';
  throw new ApiError(
    'requirements_not_met',
    Object.fromEntries(asked.map((requirement) => [requirement.id, [status]])),
  );
}
