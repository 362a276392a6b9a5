import { CompiledQuery, sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import type { AccountState } from '../users/store.ts';
import { erasedAddressOf } from '../users/user.ts';

export type ProofRow = [
  address: string,
  chain: string,
  protocol: 'ethereum' | 'solana',
  kind: 'key' | 'contract',
  text: string | null,
  signature: string | null,
];

/**
 * Locks an offer against changes, the user's account against holds, the proofs of the wallet, and the user's applicant,
 * whom the identity provider cannot update until the transaction ends. Returns the state of the account, and whether the
 * wallet is proven. One statement takes these locks, in this order: each part reads the count of the part before it. It
 * sees the locked rows as they are after the wait. Everything else must be read in a later statement.
 */
export async function lockStanding(
  tx: Db,
  { offerId, userId, partnerId, wallet }: Record<'offerId' | 'userId' | 'partnerId' | 'wallet', string>,
): Promise<AccountState & { isProven: boolean }> {
  const { rows } = await sql<AccountState & { isProven: boolean }>`
    with offer as materialized (select from offers where id = ${offerId} for share),
      account as materialized (
        select held_at is not null as is_held, email = ${erasedAddressOf(userId)} as is_erased from users
        where id = ${userId} and (select count(*) from offer) >= 0 for no key update),
      proofs as materialized (
        select from wallet_proofs where partner_id = ${partnerId} and user_id = ${userId} and address = ${wallet}
          and (select count(*) from account) >= 0 order by chain for share),
      applicants as materialized (
        select from identity_applicants where user_id = ${userId} and (select count(*) from proofs) >= 0 for share)
    select coalesce((select is_held from account), false) as "isHeld",
      coalesce((select is_erased from account), false) as "isErased",
      (select count(*) from proofs) > 0 as "isProven", (select count(*) from applicants) as applicants`.execute(
    tx,
  );
  return rows[0] ?? { isHeld: false, isErased: false, isProven: false };
}

export type SituationRow = {
  is_held: boolean;
  proofs: ProofRow[] | null;
  bindings: [optionId: string, address: string][] | null;
  reserved: [optionId: string, digits: number, price: string | null, amount: string][] | null;
};

/** Returns SQL for the requirement facts of a user, given the parameter or column with the user's id. */
type FactsText = (user: string) => string;

const situationText = (factsText: FactsText, { user, partner, wallet }: Record<string, string>) =>
  `select f.*, u.held_at is not null as is_held,
    (select json_agg(json_build_array(w.address, w.chain, w.protocol, w.kind, w.text, w.signature)) from wallet_proofs w
      where w.user_id = ${user} and w.partner_id = ${partner}
        and (${wallet}::text is null or w.address = ${wallet})) as proofs,
    (select json_agg(json_build_array(b.option_id, b.address)) from option_addresses b
      where b.user_id = ${user} and b.option_id = any($2)) as bindings,
    (select json_agg(json_build_array(r.offer_option_id, r.asset_digits, r.price_usd::text, r.amount::text))
      from reserved_supply r where r.offer_option_id = any($5)) as reserved
    from (${factsText(String(user))}) f, users u where u.id = ${user}`;

export const situationStatement = (factsText: FactsText) =>
  situationText(factsText, { user: '$1', partner: '$3', wallet: '$4' });

/** Like `situationStatement`, but for many users. Each row has the user's position in the input. */
export const situationsStatement = (factsText: FactsText) =>
  `select k.n::int as position, s.*
    from unnest($1::uuid[], $3::uuid[], $4::text[]) with ordinality as k (user_id, partner_id, wallet, n)
    cross join lateral (${situationText(factsText, { user: 'k.user_id', partner: 'k.partner_id', wallet: 'k.wallet' })}) s`;

export type SituationKey = {
  userId: string;
  partnerId: string;
  optionIds: readonly string[];
  /** Limits the proofs to this wallet. If null, the proofs of all wallets are read. */
  wallet: string | null;
  /** The options with a capped supply, for which the reserved supply is read. */
  cappedIds: readonly string[];
};

export async function readSituationRow<Facts>(
  db: Db,
  statement: string,
  { userId, partnerId, optionIds, wallet, cappedIds }: SituationKey,
): Promise<(Facts & SituationRow) | undefined> {
  const values = [userId, optionIds, partnerId, wallet, cappedIds];
  const { rows } = await db.executeQuery(CompiledQuery.raw(statement, values));
  return rows[0] as (Facts & SituationRow) | undefined;
}

export async function readSituationRows<Facts>(
  db: Db,
  statement: string,
  keys: readonly Pick<SituationKey, 'userId' | 'partnerId' | 'wallet'>[],
  { optionIds, cappedIds }: Pick<SituationKey, 'optionIds' | 'cappedIds'>,
): Promise<((Facts & SituationRow) | undefined)[]> {
  const column = (name: 'userId' | 'partnerId' | 'wallet') => keys.map((key) => key[name]);
  const values = [column('userId'), optionIds, column('partnerId'), column('wallet'), cappedIds];
  const { rows } = await db.executeQuery(CompiledQuery.raw(statement, values));
  const found = rows as (Facts & SituationRow & { position: number })[];
  const byPosition = new Map(found.map((row) => [row.position, row]));
  return keys.map((_, i) => byPosition.get(i + 1));
}
