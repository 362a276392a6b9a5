import type { UserCaller } from '../../kernel/access.ts';
import { chainFacts } from '../../kernel/chains.ts';
import { ApiError, invalidField } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import { FORMATS, toTimestamp } from '../../kernel/wire.ts';
import { normalizeAddress, parseHash, showHash } from '../../platform/chain/address.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Offer } from '../../platform/context/ports.ts';
import type { Db } from '../../platform/db/pool.ts';
import { assertOpen } from '../eligibility/decide.ts';
import { decideFor, lockEligible, recordRefused } from '../eligibility/gate.ts';
import { refusalOf } from '../eligibility/purpose.ts';
import type { Finding } from '../eligibility/requirement-check.ts';
import type { NewParticipation, Participation } from '../holdings/participation.ts';
import { insertParticipation } from '../holdings/participation-status.ts';
import {
  countPrepared,
  listByApproval,
  type NewParticipation as NewRow,
  REQUEST_COLUMNS,
} from '../holdings/participation-store.ts';
import { lockSupply } from '../holdings/supply.ts';
import {
  assertReadable,
  assertSameTerms,
  contractOn,
  findOffer,
  findOption,
  TermsChanged,
} from '../offers/offer.ts';
import { judgeApproval, lockShortage, type SharedAllowance } from './approval.ts';
import { readApprovalUse } from './approval-store.ts';
import { openFundingChain } from './funding-chain.ts';
import { showParticipation } from './participation.ts';

const MAX_PREPARED = 5;

const FIELD_FORMATS = {
  ethereum: { wallet: 'evm-address', hash: 'transaction-hash' },
  solana: { wallet: 'solana-address', hash: 'solana-signature' },
} as const;
const MAX_SOLANA_AMOUNT = 2n ** 64n - 1n;

type RequestColumns = Pick<NewRow, (typeof REQUEST_COLUMNS)[number]>;

/** Creates a participation. If the offer changes in the meantime, starts again under the new terms. */
export async function createParticipation(
  ctx: Context,
  caller: UserCaller,
  input: NewParticipation,
): Promise<Participation> {
  const fields = parseFields(input);
  let offer = await findOffer(ctx, caller, input.offer_id);
  for (;;)
    try {
      return await createUnder(ctx, caller, input, fields, offer);
    } catch (error) {
      if (!(error instanceof TermsChanged)) throw error;
      offer = error.offer;
    }
}

/**
 * Reads the approval from the chain only after all other checks. Checks eligibility, supply and the terms again in
 * the transaction that inserts the row. If concurrent requests use the same approval from the same wallet, only one
 * succeeds.
 */
async function createUnder(
  ctx: Context,
  caller: UserCaller,
  input: NewParticipation,
  fields: ReturnType<typeof parseFields>,
  offer: Offer,
): Promise<Participation> {
  if (fields instanceof ApiError) {
    contractOn(offer, input.chain);
    throw fields;
  }
  const { wallet, hash } = fields;
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
  assertReadable(contract);
  const chain = openFundingChain(ctx, contract);
  const asset = offer.funding_assets.find(({ id }) => id === input.asset_id);
  const token = contract.funding_tokens.find(({ asset_id }) => asset_id === input.asset_id);
  if (asset === undefined || token === undefined)
    throw invalidField('asset_id', 'is not a funding asset of this offer on this chain');
  const gate = { offer, options: [option], wallet, chain: input.chain };
  const findings = await decideFor(ctx, caller, 'participate', gate);
  const refusal = refusalOf('participate', findings);
  if (refusal !== null && refusal.code !== 'sold_out') throw recordRefused(ctx, caller, offer.id, refusal);
  const amount = BigInt(input.amount);
  assertMinimumPurchase(option, amount, token.decimals);
  await chain.assertAcceptable(wallet, amount);
  if (refusal !== null) throw recordRefused(ctx, caller, offer.id, refusal);
  assertSupply(findings, offer.funding_assets[0]?.fractional_digits ?? 0, amount, asset.fractional_digits);
  const { isUsed, isOwn } = await readApprovalUse(ctx.db, input.chain, hash, wallet);
  if (isUsed) return findRecorded(ctx, request, hash);
  // Nobody else knows the hash of a transaction before the service has stored it, so later checks need not repeat this.
  if (isOwn) throw new ApiError('approval_invalid', { reason: 'not_an_approval' });

  const required = {
    ...{ user: wallet, fund: contract.address, token: token.address },
    ...{ amount, approvalHash: showHash(hash), source: null },
  };
  const now = toTimestamp(ctx.clock.micros());
  const { shared, ...approval } = await judgeApproval(ctx, chain.reader, contract.chain, required);
  return recordParticipation(ctx, caller, offer, option, shared, request, {
    ...request,
    id: newId(ctx.clock, ctx.random),
    ...approval,
    reason: null,
    price_usd: option.price_usd ?? null,
    asset_code: asset.code,
    asset_name: asset.name,
    asset_digits: asset.fractional_digits,
    fund_address: contract.address,
    token_address: token.address,
    vault_address: contract.vault,
    approval_hash: hash,
    inserted_at: now,
    updated_at: now,
  });
}

/**
 * Only EVM values are lower-cased, because Solana values (base58) are case-sensitive. Returns errors about Solana
 * values, so that the caller can throw `chain_not_supported` first if the offer is not deployed on Solana.
 */
function parseFields(input: NewParticipation): { wallet: string; hash: Buffer } | ApiError {
  const { chain, amount } = input;
  if (amount === '0') throw invalidField('amount', 'must be greater than 0');
  const { protocol } = chainFacts(chain);
  const formats = FIELD_FORMATS[protocol];
  const wallet = normalizeAddress(chain, input.wallet_address);
  const hash = parseHash(chain, input.approval_transaction_hash);
  const describe = (format: string) => FORMATS[format]?.description ?? '';
  if (wallet !== null && hash !== null) {
    if (protocol !== 'solana' || BigInt(amount) <= MAX_SOLANA_AMOUNT) return { wallet, hash };
    return invalidField('amount', 'must be at most 2^64-1 on Solana');
  }
  const error =
    wallet === null
      ? invalidField('wallet_address', describe(formats.wallet))
      : invalidField('approval_transaction_hash', describe(formats.hash));
  if (protocol === 'solana') return error;
  throw error;
}

/** Only an early check; `assertCapacity` makes the final decision after the approval has been checked. */
function assertSupply(
  findings: readonly Finding[],
  firstDigits: number,
  amount: bigint,
  digits: number,
): void {
  const remaining = findings.find(({ check }) => check.code === 'supply')?.remaining;
  if (remaining === undefined) return;
  const left = (remaining * 10n ** BigInt(digits)) / 10n ** BigInt(firstDigits);
  if (amount > left) throw new ApiError('sold_out', { remaining: String(left) });
}

async function findExisting(
  { db }: Pick<Context, 'db'>,
  request: RequestColumns,
  hash: Buffer,
): Promise<Participation | null> {
  const rows = await listByApproval(db, request.chain, hash);
  const same = rows.find((row) => REQUEST_COLUMNS.every((column) => row[column] === request[column]));
  return same === undefined ? null : showParticipation(same);
}

/** Throws `approval_already_used` if a different request used the approval in the meantime. */
async function findRecorded(
  parts: Pick<Context, 'db'>,
  request: RequestColumns,
  hash: Buffer,
): Promise<Participation> {
  const existing = await findExisting(parts, request, hash);
  if (existing === null) throw new ApiError('approval_already_used');
  return existing;
}

async function recordParticipation(
  ctx: Context,
  caller: UserCaller,
  offer: Offer,
  option: OfferOption,
  shared: SharedAllowance | null,
  request: RequestColumns,
  row: NewRow,
): Promise<Participation> {
  return ctx.commitReply(async (tx) => {
    const gate = { offer, options: [option], wallet: row.wallet_address };
    assertSameTerms(offer, await lockEligible(ctx, tx, caller, 'participate', gate));
    await assertCapacity(tx, option, row);
    const shortage = shared && (await lockShortage(tx, shared));
    if (shortage) throw new ApiError(shortage.code, shortage.details);
    if (await insertParticipation(ctx, tx, row)) return showParticipation(row);
    return findRecorded({ db: tx }, request, row.approval_hash);
  });
}

/** Both checks are exact, because the offer, the supply and the user are locked. */
async function assertCapacity(tx: Db, option: OfferOption, row: NewRow): Promise<void> {
  const remaining = await lockSupply(tx, option, row.asset_digits);
  if (remaining !== null && BigInt(row.amount) > remaining)
    throw new ApiError('sold_out', { remaining: String(remaining) });
  if (row.status === 'prepared' && (await countPrepared(tx, row.user_id)) >= MAX_PREPARED)
    throw new ApiError('too_many_prepared');
}

/** One token of a funding asset counts as one dollar. */
function assertMinimumPurchase(
  { minimum_purchase_usd }: Pick<OfferOption, 'minimum_purchase_usd'>,
  amount: bigint,
  decimals: number,
): void {
  if (minimum_purchase_usd === null || minimum_purchase_usd === undefined) return;
  const [whole = '0', fraction = ''] = minimum_purchase_usd.split('.');
  const minimum = BigInt(whole + fraction);
  // Scales both values to the same number of decimals. Rounding to the token's decimals would change the minimum.
  if (amount * 10n ** BigInt(fraction.length) < minimum * 10n ** BigInt(decimals))
    throw invalidField('amount', `is below the minimum purchase of ${minimum_purchase_usd} USD`);
}
