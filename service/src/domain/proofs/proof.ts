import type { UserCaller } from '../../kernel/access.ts';
import { type ChainName, chainFacts } from '../../kernel/chains.ts';
import { ApiError } from '../../kernel/errors.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { SignerKind } from '../../platform/chain/signatures.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvents, type NewEvent } from '../../platform/events/event.ts';
import { composeMail } from '../../platform/mail/mail.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { hasLiveOrder } from '../holdings/order-store.ts';
import { failPreparedOf, hasOpenParticipation } from '../holdings/participation-status.ts';
import { shareAccount } from '../users/account.ts';
import { findUser } from '../users/store.ts';
import { localeOf } from '../users/user.ts';
import { ownerHashes, rememberOwner } from './owner-hashes.ts';
import {
  deleteBindingsOf,
  deleteProofs,
  isOwnedByRestricted,
  listOwnerKeys,
  lockOtherHolders,
  lockProofs,
  lockWallet,
  type ProofKey,
  putProof,
  type StoredProof,
} from './proof-store.ts';
import type { BoundAddress } from './store.ts';

/** Instead of a chain: a proof signed with a private key counts on every chain of its protocol. */
const EVERY_CHAIN = '*';

export type WalletProof = Omit<StoredProof, 'user_id'>;

type VerifiedSignature = {
  chain: ChainName;
  address: string;
  text: string;
  signature: string;
  kind: SignerKind;
};

/**
 * Records that the user has proven the wallet with the partner. Other users who hold the wallet lose it: their proofs
 * and bindings with the partner are deleted, and their prepared participations fail. Throws:
 * - `account_restricted` if the user is on hold.
 * - `wallet_already_bound` if another holder has a payment or an order in progress from the wallet.
 * - `wallet_restricted` if another account that is on hold or permanently rejected has bound the wallet or ever proven
 *   it.
 */
export async function recordProof(
  ctx: Context,
  { userId, partnerId }: UserCaller,
  { chain, address, text, signature, kind }: VerifiedSignature,
): Promise<void> {
  const proof = {
    partner_id: partnerId,
    address,
    chain: kind === 'key' ? EVERY_CHAIN : chain,
    protocol: chainFacts(chain).protocol,
    user_id: userId,
    kind,
    text: kind === 'contract' ? text : null,
    signature: kind === 'contract' ? signature : null,
    proved_at: toTimestamp(ctx.clock.micros()),
  };
  await ctx.db.transaction().execute(async (tx) => {
    await shareAccount(tx, userId);
    await lockWallet(tx, partnerId, address);
    const hashes = ownerHashes(ctx, await listOwnerKeys(tx), address);
    if (await isOwnedByRestricted(tx, { hashes, address, userId })) throw new ApiError('wallet_restricted');
    const others = await lockOtherHolders(tx, proof);
    if (others.length > 0) await endProofsOf(ctx, tx, { partnerId, address, userIds: others });
    await putProof(tx, proof);
    await rememberOwner(ctx, tx, userId, address);
  });
}

type Holders = { partnerId: string; address: string; userIds: readonly string[] };

async function endProofsOf(ctx: Context, tx: Db, holders: Holders): Promise<void> {
  const { partnerId, address, userIds } = holders;
  const now = new Date(ctx.clock.now()).toISOString();
  if (
    (await hasOpenParticipation(tx, partnerId, address, userIds)) ||
    (await hasLiveOrder(tx, partnerId, address, userIds, now))
  )
    throw new ApiError('wallet_already_bound');
  for (const userId of userIds) await rememberOwner(ctx, tx, userId, address);
  await deleteProofs(tx, partnerId, address, userIds);
  await failPreparedOf(ctx, tx, partnerId, address, userIds);
  await endBindings(ctx, tx, partnerId, address, userIds);
}

/** Returns whether one of the proofs was signed with a key. A proof by key needs no new on-chain check. */
export function isProvenByKey(proofs: readonly WalletProof[], chain: ChainName): boolean {
  const { protocol } = chainFacts(chain);
  return proofs.some((proof) => proof.kind === 'key' && proof.protocol === protocol);
}

/** Verifies a contract wallet's signature again, because the owners of the contract may have changed. */
export async function isProvenOn(
  ctx: Pick<Context, 'signatures'>,
  proofs: readonly WalletProof[],
  chain: ChainName,
): Promise<boolean> {
  if (isProvenByKey(proofs, chain)) return true;
  for (const proof of proofs) if (await countsOn(ctx, proof, chain)) return true;
  return false;
}

export async function lockProof(tx: Db, key: ProofKey): Promise<void> {
  if (!(await lockProofs(tx, [key]))) throw new ApiError('wallet_not_proven');
}

async function countsOn(
  ctx: Pick<Context, 'signatures'>,
  { kind, chain: provenOn, address, text, signature }: WalletProof,
  chain: ChainName,
): Promise<boolean> {
  if (kind !== 'contract' || provenOn !== chain || text === null || signature === null) return false;
  return (await ctx.signatures.check({ chain, address, text, signature })) !== null;
}

export function bindingEvent(
  type: 'wallet.bound' | 'wallet.unbound',
  offerId: string,
  partnerId: string,
  { id, option_id, user_id, protocol }: Pick<BoundAddress, 'id' | 'option_id' | 'user_id' | 'protocol'>,
): NewEvent {
  return {
    ...{ partnerId, userId: user_id, type },
    data: { object: 'option_address', id, offer_id: offerId, offer_option_id: option_id, protocol },
    related: { object: 'option_address', id, path: `/v1/offers/${offerId}/addresses` },
  };
}

/** Another user has proven the wallet. Each user who loses a binding gets one mail, the partner one event each. */
async function endBindings(
  ctx: Context,
  tx: Db,
  partnerId: string,
  address: string,
  userIds: readonly string[],
): Promise<void> {
  const ended = await deleteBindingsOf(tx, partnerId, address, userIds);
  await appendEvents(
    ctx,
    tx,
    ended.map((binding) => bindingEvent('wallet.unbound', binding.offer_id, partnerId, binding)),
  );
  for (const userId of new Set(ended.map(({ user_id }) => user_id))) {
    const user = await findUser(tx, userId);
    const values = { url: `${ctx.baseUrl}/account`, wallet: `${address.slice(0, 8)}…${address.slice(-6)}` };
    if (user !== undefined)
      await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'wallet_disconnected', values));
  }
}
