import type { Hex } from 'viem';
import { type EvmChain, uncached } from '../chain/evm/client.ts';
import { readAuthorized } from '../chain/evm/fund-swap.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import type { Offer } from '../offers/catalogue.ts';
import type { OfferContract } from '../offers/stored-offer.ts';
import { assertRequirementsMet } from '../requirements/statuses.ts';
import { assertWalletBound } from '../wallets/bound.ts';
import { assertNotSanctioned } from '../wallets/sanctions.ts';

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
  await assertRequirementsMet(ctx, caller, offer, option.id);
  assertNotSanctioned(ctx, wallet);
  await assertWalletBound(ctx, caller, option, wallet);
  if (contract.allow_list === null) return;
  const { allow_list } = contract;
  const isAllowed = (chain: EvmChain) => readAuthorized(chain, allow_list, wallet);
  const chain = ctx.chains.evm(contract.chain);
  // The cached read may predate the wallet's admission, so a refusal needs a fresh one.
  if (!(await isAllowed(chain)) && !(await isAllowed(uncached(chain))))
    throw new ApiError('requirements_not_met', { wallet_address: ['the wallet is not on the allow-list'] });
}
