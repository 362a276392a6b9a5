import type { Hex } from 'viem';
import { uncached } from '../chain/evm/client.ts';
import { readAuthorized } from '../chain/evm/fund-swap.ts';
import { simulate } from '../chain/evm/simulate.ts';
import type { Context } from '../context.ts';
import { lockAccount } from '../eligibility/account.ts';
import { assertEligible } from '../eligibility/gate.ts';
import { ApiError } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import { newId } from '../http/ids.ts';
import { toTimestamp } from '../http/wire.ts';
import { contractOn, findOffer, offerState } from '../offers/offer.ts';
import { proveOwnership, readAddress } from './challenge.ts';
import { lockProof } from './proof.ts';
import type { AllowWallet, AllowWalletReply } from './schema.ts';
import { startVerification } from './store.ts';
import { endVerification } from './verification.ts';

/** Returns the transaction that puts the wallet on the offer's allow-list, or `{}` if none is needed. */
export async function allowWallet(
  ctx: Context,
  caller: UserCaller,
  offerId: string,
  input: AllowWallet,
): Promise<AllowWalletReply> {
  const wallet = readAddress(input.chain, input.wallet_address) as Hex;
  const offer = await findOffer(ctx, caller, offerId);
  if (offer.type === 'platform::token_sale') throw new ApiError('offer_type_mismatch');
  const { allow_list: contract } = contractOn(offer, input.chain);
  if (offerState(offer, ctx.clock.now()) === 'ended') throw new ApiError('offer_ended');
  const gate = { offer, options: offer.options, wallet, chain: input.chain };
  await assertEligible(ctx, caller, 'bind', gate);
  const proof = { chain: input.chain, address: wallet, signature: input.signature };
  if (contract === null) {
    await proveOwnership(ctx, caller, proof);
    return {};
  }
  const chain = ctx.chains.evm(input.chain);
  const key = { offer_id: offer.id, user_id: caller.userId, chain: input.chain, contract, wallet };
  const isAllowed = await readAuthorized(uncached(chain), contract, wallet);
  // A refusal must not spend the challenge.
  if (!isAllowed) await assertEligible(ctx, caller, 'allow_wallet', gate);
  await proveOwnership(ctx, caller, proof);
  if (isAllowed)
    return ctx.commitReply(async (tx) => {
      await endVerification(ctx, tx, key, 'allowed');
      return {};
    });
  const { to, data, deadline } = await ctx.supplier.verifyWallet({
    chain,
    contract,
    wallet,
    offerId: offer.id,
  });
  // Detects a wrong key or contract here instead of in a failed transaction of the user.
  await simulate(chain, { from: wallet, to, data });
  // The user may have lost eligibility while the supplier and the chain answered.
  await assertEligible(ctx, caller, 'permission', gate);
  return ctx.commitReply(async (tx) => {
    await lockAccount(tx, caller.userId);
    await lockProof(tx, { user_id: caller.userId, partner_id: caller.partnerId, wallet_address: wallet });
    const verification = {
      ...key,
      id: newId(ctx.clock, ctx.random),
      partner_id: caller.partnerId,
      deadline: new Date(deadline).toISOString(),
    };
    await startVerification(tx, verification, toTimestamp(ctx.clock.micros()));
    return { object: 'allow_wallet_transaction', action: 'broadcast_transaction', data, to };
  });
}

/** Throws unless a stored reply may be returned again: never a permission to a user who has lost eligibility since. */
export async function assertMayReplayAllow(
  ctx: Context,
  caller: UserCaller,
  offerId: string,
  input: AllowWallet,
): Promise<void> {
  const wallet = readAddress(input.chain, input.wallet_address);
  const offer = await findOffer(ctx, caller, offerId);
  const gate = { offer, options: offer.options, wallet, chain: input.chain };
  await assertEligible(ctx, caller, 'permission', gate);
}
