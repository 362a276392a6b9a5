import { sql } from 'kysely';
import { deleteInBatches } from '../db/delete-in-batches.ts';
import { nodeIsAlive } from '../db/node.ts';
import type { Db } from '../db/pool.ts';

const LEASE_TTL = '60 seconds';
const KEY_TTL = '24 hours';
const OWNER_IS_ALIVE = nodeIsAlive('k.node');

/** A node's exclusive right to handle the request with the idempotency key `id`. */
export type Claim = { id: Buffer; node: number };

/**
 * Claims a key for a request. Returns false if the key is taken or the user is on hold. Any request can claim a new or
 * an expired key. Only a retry can take over the key of an unfinished request, and only if the node that owns the key
 * is gone or that node's lease on the key has expired.
 *
 * A retry is recognized by its body. `requestTags` are keyed hashes of the body, one for each configured secret. The
 * first hash is stored with the key. A request is a retry if any of its hashes equals the stored hash.
 */
export async function insertClaim(
  db: Db,
  { id, node }: Claim,
  requestTags: readonly Buffer[],
  userId: string | null,
): Promise<boolean> {
  const { rows } = await sql`
    insert into idempotency_keys as k (id, request_tag, node, lease_until)
    select ${id}::bytea, ${requestTags[0]}::bytea, ${node}::int, now() + ${LEASE_TTL}::interval
    where not exists (select from users where users.id = ${userId}::uuid and held_at is not null)
    on conflict (id) do update set request_tag = excluded.request_tag, node = excluded.node,
      lease_until = excluded.lease_until, outcome = null, inserted_at = now()
    where k.inserted_at < now() - ${KEY_TTL}::interval
      or (k.outcome is null and k.request_tag = any(${requestTags}::bytea[])
        and (k.lease_until < now() or not ${OWNER_IS_ALIVE}))
    returning id`.execute(db);
  return rows.length > 0;
}

export async function findKey(
  db: Db,
  id: Buffer,
): Promise<{ request_tag: Buffer; outcome: Buffer | null } | undefined> {
  return db
    .selectFrom('idempotency_keys')
    .select(['request_tag', 'outcome'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Stores the outcome. Returns false if the claim was lost to another node. */
export async function saveOutcome(db: Db, { id, node }: Claim, outcome: Buffer): Promise<boolean> {
  const { rows } = await sql`update idempotency_keys set outcome = ${outcome}
    where id = ${id} and node = ${node} and outcome is null returning id`.execute(db);
  return rows.length === 1;
}

export async function deleteClaim(db: Db, { id, node }: Claim): Promise<void> {
  await db
    .deleteFrom('idempotency_keys')
    .where('id', '=', id)
    .where('node', '=', node)
    .where('outcome', 'is', null)
    .execute();
}

export async function deleteExpiredIdempotencyKeys({ db }: { db: Db }): Promise<void> {
  await deleteInBatches(db, 'idempotency_keys', sql`inserted_at < now() - ${KEY_TTL}::interval`);
}
