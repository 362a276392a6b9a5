import { sql } from 'kysely';
import { nodeIsAlive } from '../db/node.ts';
import type { Db } from '../db/pool.ts';

/** The right to extend the nonce sequence of one key on one chain. */
export type Lease = {
  chain: string;
  address: string;
  node: number;
  epoch: bigint;
  /** Null before the first use of the key. */
  nextNonce: bigint | null;
};

/** Somebody else holds the lease, or has held it since. What was signed under it is thrown away unsent. */
export class LeaseLost extends Error {
  constructor() {
    super('the lease of the operator key was lost');
    this.name = 'LeaseLost';
  }
}

const LIFE = '15 seconds';

type Wanted = { chain: string; address: string; node: number };

/**
 * Takes or renews the lease; null while another node holds it. One whose node is gone is taken at once, one whose node
 * hangs when its time is over. Correctness does not hang on the time: `holdLease` refuses whoever has been replaced.
 */
export async function takeLease(db: Db, { chain, address, node }: Wanted): Promise<Lease | null> {
  const { rows } = await sql<{ epoch: bigint; next_nonce: bigint | null }>`
    insert into operator_keys as k (chain, address, epoch, node, lease_until)
    values (${chain}, ${address}, 1, ${node}, now() + ${LIFE}::interval)
    on conflict (chain, address) do update set node = excluded.node, lease_until = excluded.lease_until,
      epoch = case when k.node = excluded.node then k.epoch else k.epoch + 1 end
    where k.node = excluded.node or k.lease_until < now() or not ${nodeIsAlive('k.node')}
    returning epoch, next_nonce`.execute(db);
  const [row] = rows;
  return row === undefined ? null : { chain, address, node, epoch: row.epoch, nextNonce: row.next_nonce };
}

/** Locks the lease for the rest of the transaction; throws `LeaseLost`. Every write of the worker begins with this. */
export async function holdLease(tx: Db, { chain, address, node, epoch }: Lease): Promise<void> {
  const found = await tx
    .selectFrom('operator_keys')
    .select('epoch')
    .where('chain', '=', chain)
    .where('address', '=', address)
    .where('node', '=', node)
    .where('epoch', '=', epoch)
    .forUpdate()
    .executeTakeFirst();
  if (found === undefined) throw new LeaseLost();
}

/** Gives the lease back, so that another node need not wait for it. */
export async function dropLease(db: Db, { chain, address, node, epoch }: Lease): Promise<void> {
  await db
    .updateTable('operator_keys')
    .set({ lease_until: sql<string>`now() - interval '1 second'` })
    .where('chain', '=', chain)
    .where('address', '=', address)
    .where('node', '=', node)
    .where('epoch', '=', epoch)
    .execute();
}
