import type { UserCaller } from '../../kernel/access.ts';
import { chainFacts } from '../../kernel/chains.ts';
import { ApiError } from '../../kernel/errors.ts';
import { isId, newId } from '../../kernel/ids.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import { readPage } from '../../kernel/paging.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvent } from '../../platform/events/event.ts';
import { assertNotEnded } from '../eligibility/decide.ts';
import { assertEligible } from '../eligibility/gate.ts';
import { findOffer, findOption, offerState } from '../offers/offer.ts';
import { listOptions } from '../offers/store.ts';
import { proveOwnership, readAddress } from '../proofs/challenge.ts';
import { rememberOwner } from '../proofs/owner-hashes.ts';
import { bindingEvent, lockProof } from '../proofs/proof.ts';
import { deleteUnboundProofs } from '../proofs/proof-store.ts';
import type { AddressQuery, ConnectWallet, OptionAddress, OptionAddresses } from '../proofs/schema.ts';
import {
  type BoundAddress,
  deleteBinding,
  findBinding,
  insertBinding,
  listBindings,
  listUserBindings,
  lockBindings,
  type NewBinding,
  replaceAddress,
} from '../proofs/store.ts';
import { reportStatuses } from '../requirements/report.ts';
import { lockActiveAccount } from '../users/account.ts';

export async function connectWallet(
  ctx: Context,
  caller: UserCaller,
  offerId: string,
  input: ConnectWallet,
): Promise<OptionAddress> {
  const address = readAddress(input.chain, input.wallet_address);
  const offer = await findOffer(ctx, caller, offerId);
  const option = findOption(offer, input.offer_option_id);
  assertNotEnded(offer, ctx.clock);
  await assertEligible(ctx, caller, 'bind', {
    offer,
    options: [option],
    wallet: address,
    chain: input.chain,
  });
  await proveOwnership(ctx, caller, { chain: input.chain, address, signature: input.signature });
  return ctx.commitReply(async (tx) => {
    const { userId: user_id, partnerId: partner_id } = caller;
    await lockWindow(ctx, tx, offer.id, option.id, user_id);
    await lockActiveAccount(tx, user_id);
    // Another user may have proven the wallet since `proveOwnership` returned.
    await lockProof(tx, { user_id, partner_id, wallet_address: address });
    const found = await listBindings(tx, option.id, user_id, address);
    // Read again, because the limit may have changed since the catalogue was read.
    const [current] = await listOptions(tx, [option.id]);
    if (current === undefined) throw new ApiError('not_found');
    const wanted: NewBinding = {
      id: newId(ctx.clock, ctx.random),
      option_id: option.id,
      user_id: caller.userId,
      partner_id: caller.partnerId,
      protocol: chainFacts(input.chain).protocol,
      address,
      proved_chain: input.chain,
      proved_at: toTimestamp(ctx.clock.micros()),
    };
    const { binding, isNew } = await bind(tx, current, wanted, found);
    if (isNew) await appendEvent(ctx, tx, bindingEvent('wallet.bound', offer.id, caller.partnerId, binding));
    if (isNew) await reportStatuses(ctx, tx, caller.userId);
    return toOptionAddress(binding);
  });
}

/** `found` must have been read under `lockWindow`. */
async function bind(
  tx: Db,
  option: OfferOption,
  wanted: NewBinding,
  found: readonly BoundAddress[],
): Promise<{ binding: BoundAddress; isNew: boolean }> {
  const own = found.filter(({ user_id }) => user_id === wanted.user_id);
  // Throws immediately, without waiting for the other user's transaction. Otherwise, two users who exchange wallets at
  // the same time would wait for each other and deadlock.
  if (own.length < found.length) throw new ApiError('wallet_already_bound');
  const same = own.find(({ address }) => address === wanted.address);
  if (same !== undefined) return { binding: same, isNew: false };
  const limit = maxWallets(option);
  const replaced = limit === null ? own.find(({ protocol }) => protocol === wanted.protocol) : undefined;
  if (limit !== null && own.length >= limit)
    throw new ApiError('max_wallets_reached', { max_wallets: [String(limit)] });
  const bound = await (replaced === undefined
    ? insertBinding(tx, wanted)
    : replaceAddress(tx, replaced.id, wanted));
  if (bound === undefined) throw new ApiError('wallet_already_bound');
  return { binding: bound, isNew: true };
}

/** Null if no requirement sets a limit; then a user can bind one wallet per protocol. */
function maxWallets({ requirements }: OfferOption): number | null {
  const limits = requirements.flatMap((requirement) =>
    requirement.type === 'whitelisted_wallet' ? [requirement.details.max_wallets] : [],
  );
  return limits.length === 0 ? null : Math.min(...limits);
}

export async function listWallets(
  ctx: Context,
  caller: UserCaller,
  offerId: string,
  { offer_option_id: optionId, ...query }: AddressQuery,
): Promise<OptionAddresses> {
  const offer = await findOffer(ctx, caller, offerId);
  const options = optionId === undefined ? offer.options : [findOption(offer, optionId)];
  const ids = options.map(({ id }) => id);
  const list = `addresses ${caller.userId} ${offer.id} ${optionId ?? ''}`;
  const page = await readPage(ctx.sealing, list, query, (keyset) =>
    listUserBindings(ctx.db, caller.userId, ids, keyset),
  );
  return { ...page, data: page.data.map(toOptionAddress) };
}

export async function removeWallet(
  ctx: Context,
  caller: UserCaller,
  offerId: string,
  id: string,
): Promise<OptionAddress> {
  const offer = await findOffer(ctx, caller, offerId);
  // This check comes before the lookup of the id, so that the error is `offer_ended` for every id.
  if (offerState(offer, ctx.clock.now()) === 'ended') throw new ApiError('offer_ended');
  const found = isId(id) ? await findBinding(ctx.db, offer.id, caller.userId, id) : undefined;
  if (found === undefined) throw new ApiError('not_found');
  return ctx.commitReply(async (tx) => {
    await lockWindow(ctx, tx, offer.id, found.option_id, caller.userId);
    await lockActiveAccount(tx, caller.userId);
    const removed = await deleteBinding(tx, id);
    if (removed === undefined) throw new ApiError('not_found');
    await rememberOwner(ctx, tx, caller.userId, removed.address);
    await deleteUnboundProofs(tx, caller.userId, removed.address, [caller.partnerId, removed.partner_id]);
    await appendEvent(ctx, tx, bindingEvent('wallet.unbound', offer.id, removed.partner_id, removed));
    await reportStatuses(ctx, tx, caller.userId);
    return toOptionAddress(removed);
  });
}

async function lockWindow(
  { clock }: Pick<Context, 'clock'>,
  tx: Db,
  offerId: string,
  optionId: string,
  userId: string,
): Promise<void> {
  const endsAt = await lockBindings(tx, offerId, optionId, userId);
  assertNotEnded({ opens: -Infinity, ends: endsAt === null ? Infinity : Date.parse(endsAt) }, clock);
}

function toOptionAddress({ id, address, option_id, protocol, inserted_at }: BoundAddress): OptionAddress {
  return {
    object: 'option_address',
    id,
    address,
    offer_option_id: option_id,
    protocol,
    created_at: inserted_at,
  };
}
