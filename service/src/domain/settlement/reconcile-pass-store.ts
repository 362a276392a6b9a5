import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

export type StoredDifference = {
  key: string;
  offerIds: string[];
  participationIds: string[];
  hashes: string[];
  message: string;
};

/** The stored state of a chain's last reconciliation pass. */
export type LastPass = {
  /** The last compared block. */
  toBlock: bigint | null;
  finishedAt: string | null;
  /**
   * The id of the last rechecked participation, or null if the next pass starts with the first participation. On
   * Solana, each pass also rechecks some participations in order of id, even if they have not changed.
   */
  cursor: string | null;
};

/** Claims the next pass for a chain. Returns null if the last pass, on any node, started less than `seconds` ago. */
export async function claimPass(db: Db, chain: string, seconds: number): Promise<LastPass | null> {
  const { rows } = await sql<LastPass>`
    insert into reconcile_passes as p (chain, started_at) values (${chain}, now())
    on conflict (chain) do update set started_at = now() where p.started_at <= now() - make_interval(secs => ${seconds})
    returning to_block as "toBlock", finished_at as "finishedAt", cursor`.execute(db);
  return rows[0] ?? null;
}

export async function finishPass(
  tx: Db,
  chain: string,
  { toBlock, cursor }: { toBlock: bigint; cursor: string | null },
): Promise<void> {
  await tx
    .updateTable('reconcile_passes')
    .set({ to_block: toBlock, cursor, finished_at: sql<string>`now()` })
    .where('chain', '=', chain)
    .execute();
}

/**
 * Stores the differences that a pass has found, and returns all differences waiting for an operator. Deletes an
 * accepted difference if the pass compared one of its participations and did not find the difference again. `looked`
 * lists the participations that the pass compared; null means all.
 */
export async function replaceDifferences(
  tx: Db,
  chain: string,
  found: readonly StoredDifference[],
  looked: readonly string[] | null,
): Promise<StoredDifference[]> {
  const keys = found.map(({ key }) => key);
  await sql`
    delete from reconcile_differences
    where chain = ${chain} and accepted_at is not null and not key = any(${keys})
      and (${looked === null} or participation_ids && ${looked ?? []}::text[])`.execute(tx);
  for (const { key, offerIds, participationIds, hashes, message } of found)
    await tx
      .insertInto('reconcile_differences')
      .values({
        ...{ chain, key, message, offer_ids: offerIds },
        ...{ participation_ids: participationIds, transaction_hashes: hashes },
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  return listDifferences(tx, chain);
}

/** Lists the differences of a chain that wait for an operator to accept them. */
export async function listDifferences(db: Db, chain: string): Promise<StoredDifference[]> {
  const { rows } = await sql<StoredDifference>`
    select key, offer_ids as "offerIds", participation_ids as "participationIds", transaction_hashes as hashes, message
    from reconcile_differences where chain = ${chain} and accepted_at is null order by found_at, key`.execute(
    db,
  );
  return rows;
}

/** Accepts the differences of an offer, so that they do not pause it again. */
export async function acceptDifferences(db: Db, offerId: string): Promise<void> {
  await sql`
    update reconcile_differences set accepted_at = now()
    where ${offerId} = any(offer_ids) and accepted_at is null`.execute(db);
}

/** Returns the contracts that are called by open transactions. */
export async function listOpenTargets(db: Db, chain: string): Promise<Set<string>> {
  const rows = await db
    .selectFrom('operator_transactions')
    .select('target')
    .distinct()
    .where('chain', '=', chain)
    .where('state', '=', 'open')
    .execute();
  return new Set(rows.map(({ target }) => target));
}

export type Pass = {
  chain: string;
  toBlock: bigint | null;
  finishedAt: string | null;
  /** Seconds since the epoch. */
  finishedSeconds: number | null;
};

/** Returns the last pass of every chain. */
export async function listPasses(db: Db): Promise<Pass[]> {
  const { rows } = await sql<Pass>`
    select chain, to_block as "toBlock", finished_at as "finishedAt",
      extract(epoch from finished_at)::float8 as "finishedSeconds"
    from reconcile_passes order by chain`.execute(db);
  return rows;
}

/** Returns every offer that has a contract, with the number of its differences that wait for an operator. */
export async function countDifferences(db: Db): Promise<{ offer: string; count: number }[]> {
  const { rows } = await sql<{ offer: string; count: number }>`
    select o.slug as offer, (select count(*)::int from reconcile_differences d
      where o.id::text = any(d.offer_ids) and d.accepted_at is null) as count
    from offers o where exists (select from offer_contracts c where c.offer_id = o.id) order by o.slug`.execute(
    db,
  );
  return rows;
}

/** Returns the chains on which an offer has contracts or participations. */
export async function listChainsOf(db: Db, offerId: string): Promise<string[]> {
  const { rows } = await sql<{ chain: string }>`
    select chain from offer_contracts where offer_id = ${offerId}
    union select chain from participations where offer_id = ${offerId} order by chain`.execute(db);
  return rows.map(({ chain }) => chain);
}
