import type { UserCaller } from '../../kernel/access.ts';
import { type ChainName, chainFacts } from '../../kernel/chains.ts';
import { ApiError } from '../../kernel/errors.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { SignerKind } from '../../platform/chain/signatures.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { mapStep, runSteps, type Step } from '../../platform/db/together.ts';
import { hasLiveOrder } from '../holdings/live-order.ts';
import { failPreparedOf, hasOpenParticipation } from '../holdings/wallet-use.ts';
import { sharedAccountLock } from '../users/account.ts';
import { ownerHashes, rememberOwner } from './owner-hashes.ts';
import {
  allProofsLock,
  deleteProofs,
  isOwnedByRestricted,
  lockOtherHolders,
  ownerKeys,
  type ProofKey,
  putProof,
  type StoredProof,
  walletLock,
} from './proof-store.ts';
import { endBindings } from './unbinding.ts';

/**
 * Stored instead of a chain if a private key, not a contract wallet, signed the proof: such a proof counts on every
 * chain of its protocol.
 */
const EVERY_CHAIN = '*';

export type WalletProof = Omit<StoredProof, 'user_id'>;

export type VerifiedSignature = {
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
    const { keys } = await runSteps(tx, {
      account: sharedAccountLock(userId),
      wallet: walletLock(tx, partnerId, address),
      keys: ownerKeys(tx),
    });
    const hashes = ownerHashes(ctx, keys, address);
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

/**
 * Returns whether any of a wallet's proofs is currently valid on the chain. Verifies a contract wallet's signature
 * again, because the owners of the contract may have changed. Throws an upstream error if the chain does not answer.
 */
export async function isProvenOn(
  ctx: Pick<Context, 'signatures'>,
  proofs: readonly WalletProof[],
  chain: ChainName,
): Promise<boolean> {
  if (isProvenByKey(proofs, chain)) return true;
  for (const proof of proofs) if (await countsOn(ctx, proof, chain)) return true;
  return false;
}

/**
 * Returns whether, for every entry of `keys`, the user still has a proof of the wallet. Locks the proofs until the
 * transaction ends, so that no other user can prove the wallet with the partner.
 */
export function proofsLock(keys: readonly ProofKey[]): Step<boolean> {
  return allProofsLock(keys);
}

/** Like `proofsLock`, but for one wallet. Throws `wallet_not_proven` if there is no proof. */
export function proofLock({ user_id, partner_id, wallet_address }: ProofKey): Step<void> {
  return mapStep(proofsLock([{ user_id, partner_id, wallet_address }]), (isProven) => {
    if (!isProven) throw new ApiError('wallet_not_proven');
  });
}

async function countsOn(
  ctx: Pick<Context, 'signatures'>,
  { kind, chain: provenOn, address, text, signature }: WalletProof,
  chain: ChainName,
): Promise<boolean> {
  if (kind !== 'contract' || provenOn !== chain || text === null || signature === null) return false;
  return (await ctx.signatures.check({ chain, address, text, signature })) !== null;
}
