import type { Hex } from 'viem';
import { toLowerHex } from '../chain/address.ts';
import { chainFacts } from '../chain/chains.ts';
import type { EvmChain } from '../chain/evm/client.ts';
import { readMinCommit } from '../chain/evm/sale-fund.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { lockAccount } from '../eligibility/account.ts';
import { decideFor } from '../eligibility/gate.ts';
import { refusalOf } from '../eligibility/refusal.ts';
import { ApiError, invalidField } from '../errors.ts';
import type { UserCaller } from '../http/access.ts';
import { newId } from '../http/ids.ts';
import { FORMATS, toTimestamp } from '../http/wire.ts';
import { assertOpen, contractOn, findOffer, findOption, lockOpenOffer } from '../offers/offer.ts';
import type { OfferOption } from '../offers/stored-offer.ts';
import { lockProof } from '../wallets/proof.ts';
import { inspectApprovals, type RequiredApproval } from './approval.ts';
import { assertMinimumPurchase } from './minimum-purchase.ts';
import { showParticipation } from './participation.ts';
import type { NewParticipation, Participation } from './schema.ts';
import { insertParticipation } from './status.ts';
import { countPrepared, listByApproval, type NewParticipation as NewRow, REQUEST_COLUMNS } from './store.ts';
import { lockRemainingSupply } from './supply.ts';

/** How many participations of a user may wait for their approval at once. */
const MAX_PREPARED = 5;

/** The columns that come from the request itself. */
type RequestColumns = Pick<NewRow, (typeof REQUEST_COLUMNS)[number]>;

/**
 * Creates a participation after an ordered list of checks. The chain is checked last. The insert decides which of several
 * concurrent requests gets the approval.
 */
export async function createParticipation(
  ctx: Context,
  caller: UserCaller,
  input: NewParticipation,
): Promise<Participation> {
  const { wallet, hash } = parseFields(input);
  const offer = await findOffer(ctx, caller, input.offer_id);
  const request: RequestColumns = {
    partner_id: caller.partnerId,
    user_id: caller.userId,
    offer_id: offer.id,
    offer_option_id: input.offer_option_id,
    chain: input.chain,
    wallet_address: wallet,
    amount: input.amount,
    asset_id: input.asset_id,
  };
  const existing = await findExisting(ctx, request, hash);
  if (existing !== null) return existing;

  assertOpen(offer, ctx.clock);
  if (offer.type !== 'platform::token_sale') throw new ApiError('offer_type_mismatch');
  const option = findOption(offer, input.offer_option_id);
  const contract = contractOn(offer, input.chain);
  const chain = ctx.chains.evm(input.chain);
  const asset = offer.funding_assets.find(({ id }) => id === input.asset_id);
  const token = contract.funding_tokens.find(({ asset_id }) => asset_id === input.asset_id);
  if (asset === undefined || token === undefined)
    throw invalidField('asset_id', 'is not a funding asset of this offer on this chain');
  const gate = { offer, options: [option], wallet, chain: input.chain };
  const findings = await decideFor(ctx, caller, 'participate', gate);
  const refusal = refusalOf('participate', findings);
  if (refusal !== null && refusal.code !== 'sold_out') throw refusal;
  const amount = BigInt(input.amount);
  assertMinimumPurchase(option, amount, token.decimals);
  await assertMinCommit(chain, contract.address, amount);
  if (refusal !== null) throw refusal;
  await assertApprovalUnused(ctx, request, hash);

  const required = { user: wallet, fund: contract.address, token: token.address, amount, approvalHash: hash };
  const now = toTimestamp(ctx.clock.micros());
  return recordParticipation(ctx, hash, option, request, {
    ...request,
    id: newId(ctx.clock, ctx.random),
    status: await judgeApproval(chain, required),
    reason: null,
    price_usd: option.price_usd ?? null,
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

/** Other protocols have other address formats, but no funds: `chain_not_supported` follows later. */
function parseFields(input: NewParticipation): { wallet: Hex; hash: Hex } {
  const { wallet_address, approval_transaction_hash, chain, amount } = input;
  if (amount === '0') throw invalidField('amount', 'must be greater than 0');
  if (chainFacts(chain).protocol === 'ethereum') {
    assertFormat('wallet_address', 'evm-address', wallet_address);
    assertFormat('approval_transaction_hash', 'transaction-hash', approval_transaction_hash);
  }
  return { wallet: toLowerHex(wallet_address), hash: toLowerHex(approval_transaction_hash) };
}

function assertFormat(field: string, format: string, value: string): void {
  const known = FORMATS[format];
  if (known !== undefined && !known.test(value)) throw invalidField(field, known.description);
}

async function assertMinCommit(chain: EvmChain, fund: Hex, amount: bigint): Promise<void> {
  const minimum = await readMinCommit(chain, fund);
  if (amount < minimum) throw invalidField('amount', `is below ${minimum}, the minimum of the fund`);
}

/** Returns the first status of a participation. Throws if its approval cannot become valid. */
async function judgeApproval(chain: EvmChain, required: RequiredApproval): Promise<'pending' | 'prepared'> {
  const [finding] = await inspectApprovals(chain, [required]);
  if (finding?.state === 'wrong') throw new ApiError('approval_invalid', { reason: finding.reason });
  if (finding?.state === 'unreadable') throw finding.error;
  if (finding?.state === 'short') throw new ApiError(finding.shortage.code, finding.shortage.details);
  return finding?.state === 'good' ? 'pending' : 'prepared';
}

/** Returns the participation that an earlier identical request created. */
async function findExisting(
  { db }: Pick<Context, 'db'>,
  request: RequestColumns,
  hash: Hex,
): Promise<Participation | null> {
  const rows = await listByApproval(db, request.chain, toBytes(hash));
  const same = rows.find((row) => REQUEST_COLUMNS.every((column) => row[column] === request[column]));
  return same === undefined ? null : showParticipation(same);
}

async function assertApprovalUnused({ db }: Context, request: RequestColumns, hash: Hex): Promise<void> {
  const rows = await listByApproval(db, request.chain, toBytes(hash));
  const isUsed = rows.some((row) => row.holds_approval && row.wallet_address === request.wallet_address);
  if (isUsed) throw new ApiError('approval_already_used');
}

async function recordParticipation(
  ctx: Context,
  hash: Hex,
  option: OfferOption,
  request: RequestColumns,
  row: NewRow,
): Promise<Participation> {
  return ctx.commitReply(async (tx) => {
    await lockOpenOffer(tx, row.offer_id, ctx.clock);
    await lockAccount(tx, row.user_id);
    await lockProof(tx, row);
    await assertCapacity(tx, option, row);
    if (await insertParticipation(ctx, tx, row)) return showParticipation(row);
    const existing = await findExisting({ db: tx }, request, hash);
    if (existing === null) throw new ApiError('approval_already_used');
    return existing;
  });
}

/**
 * Throws `sold_out` if the amount exceeds the supply, which a `pending` row reserves under a lock, and
 * `too_many_prepared`, which is exact because the account is locked.
 */
async function assertCapacity(tx: Db, option: OfferOption, row: NewRow): Promise<void> {
  const remaining = await lockRemainingSupply(tx, option, row.asset_digits);
  if (remaining !== null && BigInt(row.amount) > remaining)
    throw new ApiError('sold_out', { remaining: String(remaining) });
  if (row.status === 'prepared' && (await countPrepared(tx, row.user_id)) >= MAX_PREPARED)
    throw new ApiError('too_many_prepared');
}

function toBytes(hash: Hex): Buffer {
  return Buffer.from(hash.slice(2), 'hex');
}
