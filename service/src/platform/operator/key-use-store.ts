import { sql } from 'kysely';
import type { SendingRole } from '../../kernel/config/role.ts';
import type { Db } from '../db/pool.ts';
import type { KeyId } from './account.ts';

/** Skips roles in which the key was last used more than `grace` blocks ago. Returns the recorded ones. */
export async function extendKeyUse(
  tx: Db,
  { chain, address }: KeyId,
  roles: readonly SendingRole[],
  height: bigint,
  grace: bigint,
): Promise<SendingRole[]> {
  const { rows } = await sql<{ role: SendingRole }>`
    update operator_key_uses set alive_height = greatest(alive_height, ${height})
    where chain = ${chain} and address = ${address} and role = any(${roles})
      and alive_height >= ${height - grace} returning role`.execute(tx);
  return rows.map(({ role }) => role);
}

export async function startKeyUse(
  tx: Db,
  { chain, address }: KeyId,
  roles: readonly SendingRole[],
  height: bigint,
  firstHeight: bigint,
): Promise<void> {
  await sql`
    insert into operator_key_uses (chain, address, role, first_height, alive_height)
    select ${chain}::text, ${address}::text, role, ${firstHeight}::bigint, ${height}::bigint
    from unnest(${roles}::text[]) as role
    on conflict (chain, address, role) do update
      set first_height = excluded.first_height, alive_height = excluded.alive_height`.execute(tx);
}

/**
 * Null if the key was never started in the role. If another key was started in it later, this one must wait until the
 * other's transactions have expired: `expiry` blocks after its last use.
 */
export async function readFirstHeight(
  tx: Db,
  { chain, address }: KeyId,
  role: SendingRole,
  expiry: bigint,
): Promise<bigint | null> {
  const { rows } = await sql<{ height: bigint | null }>`
    select greatest(k.first_height, (
      select max(o.alive_height) + ${expiry}::bigint from operator_key_uses o
      where o.chain = k.chain and o.role = k.role and o.address <> k.address
        and (o.first_height, o.address) > (k.first_height, k.address))) as height
    from operator_key_uses k
    where k.chain = ${chain} and k.address = ${address} and k.role = ${role}`.execute(tx);
  return rows[0]?.height ?? null;
}
