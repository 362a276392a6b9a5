import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';

/** Returns every vault, with the total of its participations that were committed but not refunded. */
export async function listVaults(db: Db, chain: string): Promise<{ vault: string; settled: bigint }[]> {
  const { rows } = await sql<{ vault: string; settled: string }>`
    select vault_address as vault, coalesce(sum(amount) filter (
      where status in ('completed', 'remit_submitted', 'remit_failed')), 0)::text as settled
    from participations where chain = ${chain} and vault_address is not null
    group by vault_address order by vault_address`.execute(db);
  return rows.map(({ vault, settled }) => ({ vault, settled: BigInt(settled) }));
}
