import type { Hex } from 'viem';
import type { UserCaller } from '../../kernel/access.ts';
import { type ChainName, chainFacts } from '../../kernel/chains.ts';
import { ApiError } from '../../kernel/errors.ts';
import { WALLET_KINDS } from '../../kernel/model/requirement.ts';
import type { OfferOption } from '../../kernel/model/stored-offer.ts';
import { uncached } from '../../platform/chain/evm/client.ts';
import { readAuthorized } from '../../platform/chain/evm/fund-swap.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Offer } from '../../platform/context/ports.ts';
import { type Reserved, remainingSupply } from '../holdings/supply.ts';
import { isProvenByKey, isProvenOn, type WalletProof } from '../proofs/proof.ts';
import { toFacts, type UserFacts } from '../requirements/facts.ts';
import { countryPolicy } from '../requirements/residence.ts';
import { type FactsRow, factsText } from '../requirements/store.ts';
import type { CheckCode } from './schema.ts';
import {
  readSituationRow,
  readSituationRows,
  type SituationRow,
  situationStatement,
  situationsStatement,
} from './store.ts';

export type Situation = {
  now: number;
  offer: Pick<Offer, 'id' | 'opens' | 'ends'>;
  option: Pick<OfferOption, 'id' | 'accreditation_days' | 'requirements'>;
  user: UserFacts;
  isHeld: boolean;
  /** If `wallet` is null: whether the user has proven only wallets that are on the sanctions list, and at least one. */
  isSanctioned: boolean;
  countryPolicy: 'passed' | 'waiting' | 'action_needed' | 'rejected';
  wallet: { address: string; chain: string | null; isBound: boolean } | null;
  proof: 'proven' | 'not_proven' | 'unreachable';
  /**
   * `none`: the contracts to check have no allow-list, or the list was not read because the check is not needed.
   * `missing`: the wallet is not on the list, but we can add it. `issuer`: the wallet is not on the list, and only the
   * issuer can add it.
   */
  allowList: 'none' | 'allowed' | 'missing' | 'issuer' | 'unreachable';
  /** In the smallest unit of the first funding asset. Null if the supply has no cap. */
  remainingSupply: bigint | null;
};

/** If `wallet` is null, any proven wallet counts. If `chain` is null, any chain of the offer counts. */
export type Target = { wallet: string | null; chain: ChainName | null };

type User = Pick<UserCaller, 'userId' | 'partnerId'>;

/** The part of `Context` that reading a situation needs. CLI commands provide it without a running service. */
export type SituationContext = Pick<
  Context,
  'db' | 'clock' | 'config' | 'chains' | 'signatures' | 'openPiiFacts'
> & { sanctions: Pick<Context['sanctions'], 'has'>; supplier: Pick<Context['supplier'], 'canAdmit'> };

export type Subject = { user: User; offer: Offer; options: readonly OfferOption[]; target: Target };

export type ReadSituation = Situation & {
  /** Whether `lockEligible` repeats every check of an order: it reads no chain and knows no bindings. */
  isCoveredByLock: boolean;
};

const READ_SITUATION = situationStatement(factsText);
const READ_SITUATIONS = situationsStatement(factsText);
const MAX_WALLETS_ON_CHAIN = 20;

/**
 * Reads the facts that decide which options the user may use. Reads the database in one round trip, and reads a chain
 * only if a check in `needed` requires facts from it. If the chain does not respond, reports such a fact as
 * `unreachable` instead of throwing.
 */
export async function readSituations(
  ctx: SituationContext,
  user: User,
  offer: Offer,
  options: readonly OfferOption[],
  target: Target,
  needed: ReadonlySet<CheckCode>,
): Promise<ReadSituation[]> {
  const capped = options.filter(({ total_token_supply, price_usd }) => total_token_supply && price_usd);
  const key = {
    userId: user.userId,
    partnerId: user.partnerId,
    optionIds: options.map(({ id }) => id),
    wallet: target.wallet,
    cappedIds: needed.has('supply') ? capped.map(({ id }) => id) : [],
  };
  const row = await readSituationRow<FactsRow>(ctx.db, READ_SITUATION, key);
  if (row === undefined) throw new ApiError('not_found');
  return toSituations(ctx, { user, offer, options, target }, row, needed);
}

/** Reads many users in one round trip to the database, without the supply. Null for an unknown user. */
export async function readSituationsOfAll(
  ctx: SituationContext,
  subjects: readonly Subject[],
  needed: ReadonlySet<CheckCode>,
): Promise<(Situation[] | null)[]> {
  const optionIds = [...new Set(subjects.flatMap(({ options }) => options.map(({ id }) => id)))];
  const keys = subjects.map(({ user, target }) => ({ ...user, wallet: target.wallet }));
  const found = await readSituationRows<FactsRow>(ctx.db, READ_SITUATIONS, keys, {
    ...{ optionIds, cappedIds: [] },
  });
  return Promise.all(
    subjects.map((subject, i) => {
      const row = found[i];
      return row === undefined ? null : toSituations(ctx, subject, row, needed);
    }),
  );
}

async function toSituations(
  ctx: SituationContext,
  { user, offer, options, target }: Subject,
  row: FactsRow & SituationRow,
  needed: ReadonlySet<CheckCode>,
): Promise<ReadSituation[]> {
  const proofs = (row.proofs ?? []).map(toProof);
  const [proof, allowList] = await Promise.all([
    needed.has('wallet_proof') ? readProof(ctx, offer, proofs, target) : ('not_proven' as const),
    needed.has('allow_list') ? readAllowList(ctx, offer, proofs, target) : ('none' as const),
  ]);
  const facts = toFacts(ctx, user.userId, row);
  const now = ctx.clock.now();
  const isWalletSanctioned = isSanctioned(ctx, proofs, target);
  const policy = countryPolicy(facts, ctx.config);
  return options.map((option) => ({
    now,
    offer,
    user: facts,
    isHeld: row.is_held,
    isSanctioned: isWalletSanctioned,
    countryPolicy: policy,
    proof,
    allowList,
    option,
    wallet: target.wallet === null ? null : walletOf(row, option, target.wallet, target.chain),
    remainingSupply: remainingSupply(option, reservedOf(row, option.id), digitsOf(offer)),
    isCoveredByLock:
      allowList === 'none' &&
      chainsOf(offer, target).every((chain) => isProvenByKey(proofs, chain)) &&
      !option.requirements.some(({ type }) => WALLET_KINDS.has(type)),
  }));
}

function walletOf({ bindings }: SituationRow, { id }: OfferOption, address: string, chain: string | null) {
  const isBound = (bindings ?? []).some(([optionId, bound]) => optionId === id && bound === address);
  return { address, chain, isBound };
}

function reservedOf({ reserved }: SituationRow, optionId: string): Reserved[] {
  return (reserved ?? [])
    .filter(([id]) => id === optionId)
    .map(([, digits, price_usd, amount]) => ({ digits, price_usd, amount: BigInt(amount) }));
}

function digitsOf({ funding_assets }: Offer): number {
  return funding_assets[0]?.fractional_digits ?? 0;
}

function toProof(row: NonNullable<SituationRow['proofs']>[number]): WalletProof {
  const [address, chain, protocol, kind, text, signature] = row;
  return { address, chain, protocol, kind, text, signature };
}

function isSanctioned(
  { sanctions }: SituationContext,
  proofs: readonly WalletProof[],
  { wallet }: Target,
): boolean {
  if (wallet !== null) return sanctions.has(wallet);
  return proofs.length > 0 && proofs.every(({ address }) => sanctions.has(address));
}

function chainsOf({ contracts }: Offer, { chain }: Target): ChainName[] {
  return chain === null ? contracts.map((contract) => contract.chain) : [chain];
}

/** If the target names no wallet, only these proofs count. */
function usableOf({ sanctions }: SituationContext, proofs: readonly WalletProof[]): WalletProof[] {
  return proofs.filter(({ address }) => !sanctions.has(address));
}

/** If the target names no wallet, any usable stored proof is enough, and no chain is read. */
async function readProof(
  ctx: SituationContext,
  offer: Offer,
  proofs: readonly WalletProof[],
  target: Target,
): Promise<Situation['proof']> {
  const chains = chainsOf(offer, target);
  if (target.wallet === null) {
    const protocols = new Set(chains.map((chain) => chainFacts(chain).protocol));
    return usableOf(ctx, proofs).some(({ protocol }) => protocols.has(protocol)) ? 'proven' : 'not_proven';
  }
  return settle(async () => {
    for (const chain of chains) if (await isProvenOn(ctx, proofs, chain)) return 'proven';
    return 'not_proven';
  });
}

async function readAllowList(
  ctx: SituationContext,
  offer: Offer,
  proofs: readonly WalletProof[],
  target: Target,
): Promise<Situation['allowList']> {
  const chains = chainsOf(offer, target);
  const contracts = offer.contracts.filter(
    ({ chain, allow_list }) => allow_list !== null && chains.includes(chain),
  );
  if (contracts.length === 0) return 'none';
  const wallets =
    target.wallet === null
      ? [...new Set(usableOf(ctx, proofs).map(({ address }) => address))]
      : [target.wallet];
  return settle(async () => {
    for (const { chain: name, allow_list } of contracts)
      for (const wallet of wallets.filter((each) => each.startsWith('0x')).slice(0, MAX_WALLETS_ON_CHAIN))
        if (await isAllowed(ctx, name, allow_list as Hex, wallet as Hex)) return 'allowed';
    for (const { chain: name, allow_list } of contracts)
      if (await ctx.supplier.canAdmit({ chain: ctx.chains.evm(name), contract: allow_list as Hex }))
        return 'missing';
    return 'issuer';
  });
}

async function isAllowed(
  { chains }: SituationContext,
  name: string,
  contract: Hex,
  wallet: Hex,
): Promise<boolean> {
  const chain = chains.evm(name);
  // The first result may come from the cache. If that result is negative, reads the chain itself, because the wallet
  // may have been added to the allow-list since.
  return (await readAuthorized(chain, contract, wallet)) || readAuthorized(uncached(chain), contract, wallet);
}

async function settle<T>(read: () => Promise<T>): Promise<T | 'unreachable'> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ApiError && (error.status >= 500 || error.code === 'chain_not_supported'))
      return 'unreachable';
    throw error;
  }
}
