import type { Hex } from 'viem';
import { uncached } from '../chain/evm/client.ts';
import { readAuthorized } from '../chain/evm/fund-swap.ts';
import { simulate } from '../chain/evm/simulate.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import { newId } from '../http/ids.ts';
import { toTimestamp } from '../http/wire.ts';
import { contractOn, findOffer, offerState } from '../offers/offer.ts';
import { proveOwnership, readAddress } from './challenge.ts';
import { assertNotSanctioned } from './sanctions.ts';
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
  assertNotSanctioned(ctx, wallet);
  await proveOwnership(ctx, caller, {
    chain: input.chain,
    address: wallet,
    signature: input.signature,
  });
  if (contract === null) return {};
  const chain = ctx.chains.evm(input.chain);
  const key = { offer_id: offer.id, user_id: caller.userId, chain: input.chain, contract, wallet };
  if (await readAuthorized(uncached(chain), contract, wallet))
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
  return ctx.commitReply(async (tx) => {
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
