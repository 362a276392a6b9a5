import type { Hex } from 'viem';
import { chainFacts } from '../chain/chains.ts';
import type { EvmChain } from '../chain/evm/client.ts';
import { contractCall } from '../chain/evm/reads.ts';
import { minCommitAbi } from '../chain/evm/sale-fund.ts';
import type { Context } from '../context.ts';
import { ApiError, invalidField } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import { newId } from '../http/ids.ts';
import { FORMATS, toTimestamp } from '../http/wire.ts';
import { assertOpen, contractOn, findOffer, findOption } from '../offers/offer.ts';
import type { OfferOption } from '../offers/store.ts';
import { assertRequirementsMet } from '../requirements/statuses.ts';
import { assertNotSanctioned } from '../wallets/sanctions.ts';
import { listBindings } from '../wallets/store.ts';
import { inspectApprovals } from './approval.ts';
import { assertMinimumPurchase } from './minimum.ts';
import { showParticipation } from './participation.ts';
import type { NewParticipation, Participation } from './schema.ts';
import { insertParticipation } from './status.ts';
import { ASKED, listByApproval, type NewParticipation as NewRow } from './store.ts';

/** What a request says, apart from what follows from it. */
type Asked = Pick<NewRow, (typeof ASKED)[number]>;

/** An ordered list of checks; what the chain says comes last, and the last write decides who has the approval. */
export async function createParticipation(
  ctx: Context,
  caller: UserCaller,
  input: NewParticipation,
): Promise<Participation> {
  const { wallet, hash } = readFields(input);
  const offer = await findOffer(ctx, caller, input.offer_id);
  const asked: Asked = {
    partner_id: caller.partnerId,
    user_id: caller.userId,
    offer_id: offer.id,
    offer_option_id: input.offer_option_id,
    chain: input.chain,
    wallet_address: wallet,
    amount: input.amount,
    asset_id: input.asset_id,
  };
  const repeated = await findRepeated(ctx, asked, hash);
  if (repeated !== null) return repeated;

  assertOpen(offer, ctx.clock);
  if (offer.type !== 'platform::token_sale') throw new ApiError('offer_type_mismatch');
  const option = findOption(offer, input.offer_option_id);
  const contract = contractOn(offer, input.chain);
  const chain = ctx.chains.evm(input.chain);
  const asset = offer.funding_assets.find(({ id }) => id === input.asset_id);
  const token = contract.funding_tokens.find(({ asset_id }) => asset_id === input.asset_id);
  if (asset === undefined || token === undefined)
    throw invalidField('asset_id', 'is not a funding asset of this offer on this chain');
  await assertRequirementsMet(ctx, caller, offer, option.id);
  await assertBound(ctx, caller, option, wallet);
  assertNotSanctioned(ctx, wallet);
  const amount = BigInt(input.amount);
  assertMinimumPurchase(option, amount, token.decimals);
  await assertMinimumCommit(chain, contract.address, amount);
  await assertUnused(ctx, asked, hash);

  const wanted = { user: wallet, fund: contract.address, token: token.address, amount, approvalHash: hash };
  const [finding = { state: 'unmined' as const }] = await inspectApprovals(chain, [wanted]);
  if (finding.state === 'wrong') throw new ApiError('approval_invalid', { reason: finding.reason });
  if (finding.state === 'unreadable') throw finding.error;
  if (finding.state === 'short') throw new ApiError(finding.shortage.code, finding.shortage.details);
  const now = toTimestamp(ctx.clock.micros());
  return recordParticipation(ctx, hash, asked, {
    ...asked,
    id: newId(ctx.clock, ctx.random),
    status: finding.state === 'good' ? 'pending' : 'prepared',
    reason: null,
    asset_code: asset.code,
    asset_name: asset.name,
    asset_digits: asset.fractional_digits,
    fund_address: contract.address,
    token_address: token.address,
    approval_hash: toBytes(hash),
    prepared_at: now,
    inserted_at: now,
    updated_at: now,
  });
}

/** Where the chain has no such addresses and hashes, it has no fund either, which is told later. */
function readFields(input: NewParticipation): { wallet: Hex; hash: Hex } {
  const { wallet_address, approval_transaction_hash, chain, amount } = input;
  if (amount === '0') throw invalidField('amount', 'must be greater than 0');
  if (chainFacts(chain).protocol === 'ethereum') {
    assertFormat('wallet_address', 'evm-address', wallet_address);
    assertFormat('approval_transaction_hash', 'transaction-hash', approval_transaction_hash);
  }
  return {
    wallet: wallet_address.toLowerCase() as Hex,
    hash: approval_transaction_hash.toLowerCase() as Hex,
  };
}

function assertFormat(field: string, format: string, value: string): void {
  const known = FORMATS[format];
  if (known !== undefined && !known.test(value)) throw invalidField(field, known.says);
}

/** A wallet requirement is met by any bound wallet; what is taken must come from one of them. */
async function assertBound(
  { db }: Context,
  { userId }: UserCaller,
  { id, requirements }: OfferOption,
  wallet: Hex,
): Promise<void> {
  const needsWallet = requirements.some(
    ({ type }) => type === 'whitelisted_wallet' || type === 'external_wallet',
  );
  if (!needsWallet) return;
  const bound = await listBindings(db, id, userId, wallet);
  if (!bound.some(({ address, user_id }) => address === wallet && user_id === userId))
    throw invalidField('wallet_address', 'is not bound to this option');
}

async function assertMinimumCommit(chain: EvmChain, fund: Hex, amount: bigint): Promise<void> {
  const least = await chain.reader.read(contractCall(fund, minCommitAbi, 'minCommit', []));
  if (amount < least) throw invalidField('amount', `is below ${least}, the least that the fund takes`);
}

/** The participation that this very request has made before. */
async function findRepeated(ctx: Context, asked: Asked, hash: Hex): Promise<Participation | null> {
  const rows = await listByApproval(ctx.db, asked.chain, toBytes(hash));
  const same = rows.find((row) => isSame(row, asked));
  return same === undefined ? null : showParticipation(same);
}

function isSame(row: Asked, asked: Asked): boolean {
  return ASKED.every((field) => row[field] === asked[field]);
}

async function assertUnused(ctx: Context, asked: Asked, hash: Hex): Promise<void> {
  const rows = await listByApproval(ctx.db, asked.chain, toBytes(hash));
  const isTaken = rows.some((row) => row.holds_approval || row.wallet_address === asked.wallet_address);
  if (isTaken) throw new ApiError('approval_already_used');
}

async function recordParticipation(
  ctx: Context,
  hash: Hex,
  asked: Asked,
  row: NewRow,
): Promise<Participation> {
  return ctx.commitReply(async (tx) => {
    if (await insertParticipation(ctx, tx, row)) return showParticipation(row);
    const repeated = await findRepeated({ ...ctx, db: tx }, asked, hash);
    if (repeated === null) throw new ApiError('approval_already_used');
    return repeated;
  });
}

function toBytes(hash: Hex): Buffer {
  return Buffer.from(hash.slice(2), 'hex');
}
