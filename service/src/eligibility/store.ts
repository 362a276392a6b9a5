import type { Queryable } from '../db/pool.ts';

export type ProofRow = [
  address: string,
  chain: string,
  protocol: 'ethereum' | 'solana',
  kind: 'key' | 'contract' | 'recorded',
  text: string | null,
  signature: string | null,
];

/** The columns that are read in addition to the requirement facts. */
export type SituationRow = {
  is_held: boolean;
  proofs: ProofRow[] | null;
  bindings: [optionId: string, address: string][] | null;
  reserved: [optionId: string, digits: number, price: string | null, amount: string][] | null;
};

/**
 * A hand-written prepared statement that reads everything the database knows about a user and an offer in one round
 * trip. `factsText` is the SQL that reads the facts of requirements.
 */
export const situationStatement = (factsText: string) => ({
  name: 'eligibility_situation',
  text: `select f.*, u.held_at is not null as is_held,
    (select json_agg(json_build_array(w.address, w.chain, w.protocol, w.kind, w.text, w.signature)) from wallet_proofs w
      where w.user_id = $1 and w.partner_id = $3 and ($4::text is null or w.address = $4)) as proofs,
    (select json_agg(json_build_array(b.option_id, b.address)) from option_addresses b
      where b.user_id = $1 and b.option_id = any($2)) as bindings,
    (select json_agg(json_build_array(r.offer_option_id, r.asset_digits, r.price_usd::text, r.amount::text))
      from reserved_supply r where r.offer_option_id = any($5)) as reserved
    from (${factsText}) f, users u where u.id = $1`,
});

export type SituationKey = {
  userId: string;
  partnerId: string;
  optionIds: readonly string[];
  /** The wallet whose proofs are read; null reads the proofs of all wallets. */
  wallet: string | null;
  /** The options whose supply is capped. */
  cappedIds: readonly string[];
};

/** Returns undefined for an unknown user. */
export async function readSituationRow<Facts>(
  statements: Queryable,
  statement: ReturnType<typeof situationStatement>,
  { userId, partnerId, optionIds, wallet, cappedIds }: SituationKey,
): Promise<(Facts & SituationRow) | undefined> {
  const values = [userId, optionIds, partnerId, wallet, cappedIds];
  const { rows } = await statements.query<Facts & SituationRow>({ ...statement, values });
  return rows[0];
}
