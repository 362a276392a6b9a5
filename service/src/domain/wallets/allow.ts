import type { Hex } from 'viem';
import type { UserCaller } from '../../kernel/access.ts';
import { ApiError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import { uncached } from '../../platform/chain/evm/client.ts';
import { readAuthorized } from '../../platform/chain/evm/fund-swap.ts';
import { simulate } from '../../platform/chain/evm/node-reads.ts';
import type { Context } from '../../platform/context/context.ts';
import { assertNotEnded } from '../eligibility/decide.ts';
import { assertEligible, decideFor, type GateInput, lockEligible } from '../eligibility/gate.ts';
import { refusalOf } from '../eligibility/purpose.ts';
import { assertReadable, evmContractOn, findOffer, lockOptions } from '../offers/offer.ts';
import { proveOwnership, readAddress } from '../proofs/challenge.ts';
import type { AllowWallet, AllowWalletReply } from '../proofs/schema.ts';
import { assertNotRevoking, lockNotRevoking } from './revocation.ts';
import { type NewVerification, startVerification } from './store.ts';
import { endVerification, recordAllowed } from './verification.ts';

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
  const deployment = evmContractOn(offer, input.chain);
  assertReadable(deployment);
  const { allow_list: contract } = deployment;
  assertNotEnded(offer, ctx.clock);
  const gate = { offer, options: offer.options, wallet, chain: input.chain };
  await assertEligible(ctx, caller, 'bind', gate);
  const proof = { chain: input.chain, address: wallet, signature: input.signature };
  if (contract === null) {
    await proveOwnership(ctx, caller, proof);
    return {};
  }
  const chain = ctx.chains.evm(input.chain);
  const key = { offer_id: offer.id, user_id: caller.userId, chain: input.chain, contract, wallet };
  // Only `proveOwnership` below consumes the challenge, so the challenge stays usable if one of these checks
  // fails.
  await assertNotRevoking(ctx.db, key);
  const isAllowed = await readAuthorized(uncached(chain), contract, wallet);
  const isOurs = await ctx.supplier.canAdmit({ chain, contract });
  if (!isAllowed) {
    await assertEligible(ctx, caller, 'allow_wallet', gate);
    if (!isOurs) throw new ApiError('allow_list_external');
  }
  await proveOwnership(ctx, caller, proof);
  // If the issuer maintains the list, only the issuer can revoke entries. So no entry is recorded for revocation.
  if (!isOurs) return {};
  const verification = { ...key, id: newId(ctx.clock, ctx.random), partner_id: caller.partnerId };
  if (isAllowed) return confirmAllowed(ctx, caller, gate, verification);
  const { to, data, deadline } = await ctx.supplier.verifyWallet({
    chain,
    contract,
    wallet,
    offerId: offer.id,
  });
  // Detects a wrong key or contract now, rather than when the user's transaction fails.
  await simulate(chain, { from: wallet, to, data });
  // Checks again, because the user may have lost eligibility, or the offer may have changed, while the supplier and
  // the chain were called.
  await assertEligible(ctx, caller, 'admit', gate);
  return ctx.commitReply(async (tx) => {
    const options = await lockOptions(tx, offer.id, caller.partnerId, ctx.clock);
    await lockEligible(ctx, tx, caller, 'admit', { ...gate, options });
    await lockNotRevoking(tx, key);
    const permitted = { ...verification, deadline: new Date(deadline).toISOString() };
    await startVerification(tx, permitted, toTimestamp(ctx.clock.micros()));
    return { object: 'allow_wallet_transaction', action: 'broadcast_transaction', data, to };
  });
}

/** If the user is eligible, records the allow-list entry, so that it is revoked when the user loses eligibility. */
async function confirmAllowed(
  ctx: Context,
  caller: UserCaller,
  gate: GateInput,
  verification: Omit<NewVerification, 'deadline'>,
): Promise<AllowWalletReply> {
  const isEligible = refusalOf('permission', await decideFor(ctx, caller, 'permission', gate)) === null;
  return ctx.commitReply(async (tx) => {
    const time = toTimestamp(ctx.clock.micros());
    if (isEligible) {
      await lockNotRevoking(tx, verification);
      await recordAllowed(ctx, tx, { ...verification, deadline: time });
    } else await endVerification(ctx, tx, verification, 'allowed');
    return {};
  });
}

/**
 * Checks whether a stored reply may be repeated. Throws if the reply contains a transaction, which is a permission, and
 * the user is no longer eligible. The reply `{}` permits nothing, so it may always be repeated.
 */
export async function assertMayReplayAllow(
  ctx: Context,
  caller: UserCaller,
  offerId: string,
  input: AllowWallet,
  reply: AllowWalletReply,
): Promise<void> {
  if (!('action' in reply)) return;
  const wallet = readAddress(input.chain, input.wallet_address);
  const offer = await findOffer(ctx, caller, offerId);
  const gate = { offer, options: offer.options, wallet, chain: input.chain };
  await assertEligible(ctx, caller, 'permission', gate);
}
