import { CompiledQuery } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

export type ProofRow = [
  address: string,
  chain: string,
  protocol: 'ethereum' | 'solana',
  kind: 'key' | 'contract',
  text: string | null,
  signature: string | null,
];

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
