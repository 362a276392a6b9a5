import { sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

export type StoredProof = Pick<
  Database['wallet_proofs'],
  'user_id' | 'address' | 'chain' | 'protocol' | 'kind' | 'text' | 'signature'
>;

export async function lockWallet(tx: Db, partnerId: string, address: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`wallet proof ${partnerId} ${address}`}, 0))`.execute(
    tx,
  );
}

/**
 * Lists the other users who hold the wallet with the partner: those with a proof that may be valid on `chain` (if
 * `chain` is `*`, any proof counts), and those with a binding but no proof. Locks the other users' proofs until the
 * transaction ends, so that no participation is created with those proofs.
 */
export async function lockOtherHolders(
  tx: Db,
  {
    partner_id,
    address,
    user_id,
    chain,
  }: Pick<Database['wallet_proofs'], 'partner_id' | 'address' | 'user_id' | 'chain'>,
): Promise<string[]> {
  const { rows: proven } = await sql<{ user_id: string; counts: boolean }>`
    select user_id, ${chain} = '*' or chain in ('*', ${chain}) as counts from wallet_proofs
    where partner_id = ${partner_id} and address = ${address} and user_id <> ${user_id} for update`.execute(
    tx,
  );
  const { rows: bindings } = await sql<{ user_id: string }>`
    select distinct user_id from option_addresses
    where partner_id = ${partner_id} and address = ${address} and user_id <> ${user_id}`.execute(tx);
  const provers = new Set(proven.map((row) => row.user_id));
  return [
    ...new Set([
      ...proven.filter((row) => row.counts).map((row) => row.user_id),
      ...bindings.map((row) => row.user_id).filter((id) => !provers.has(id)),
    ]),
  ];
}

export async function deleteProofs(
  tx: Db,
  partnerId: string,
  address: string,
  userIds: readonly string[],
): Promise<void> {
  await sql`delete from wallet_proofs where partner_id = ${partnerId} and address = ${address}
    and user_id = any(${userIds}::uuid[])`.execute(tx);
}

/** Keeps the proofs of an address that the user still has bound with the partner. */
export async function deleteUnboundProofs(
  tx: Db,
  userId: string,
  address: string,
  partnerIds: readonly string[],
): Promise<void> {
  await sql`delete from wallet_proofs p where p.user_id = ${userId} and p.address = ${address}
    and p.partner_id = any(${partnerIds}::uuid[]) and not exists (
      select from option_addresses b
      where b.user_id = p.user_id and b.address = p.address and b.partner_id = p.partner_id)`.execute(tx);
}

type EndedBinding = Pick<Database['option_addresses'], 'id' | 'option_id' | 'user_id' | 'protocol'> & {
  offer_id: string;
};

export async function deleteBindingsOf(
  tx: Db,
  partnerId: string,
  address: string,
  userIds: readonly string[],
): Promise<EndedBinding[]> {
  const { rows } = await sql<EndedBinding>`
    delete from option_addresses b using offer_options o where b.partner_id = ${partnerId} and b.address = ${address}
      and b.user_id = any(${userIds}::uuid[]) and o.id = b.option_id
    returning b.id, b.option_id, b.user_id, b.protocol, o.offer_id`.execute(tx);
  return rows;
}

export async function putProof(tx: Db, proof: Database['wallet_proofs']): Promise<void> {
  await tx
    .insertInto('wallet_proofs')
    .values(proof)
    .onConflict((conflict) =>
      conflict.columns(['partner_id', 'address', 'chain']).doUpdateSet({
        user_id: proof.user_id,
        kind: proof.kind,
        text: proof.text,
        signature: proof.signature,
        proved_at: proof.proved_at,
      }),
    )
    .execute();
}

/** Records the user as an owner of the wallet, for `isOwnedByRestricted`. */
export async function putOwner(tx: Db, hash: Buffer, userId: string): Promise<void> {
  await sql`insert into wallet_owners (hash, user_id) values (${hash}, ${userId}) on conflict do nothing`.execute(
    tx,
  );
}

export async function listOwnerKeys(db: Db): Promise<{ fingerprint: Buffer; sealed: Buffer }[]> {
  return db.selectFrom('wallet_owner_keys').select(['fingerprint', 'sealed']).execute();
}

export async function putOwnerKey(db: Db, fingerprint: Buffer, sealed: Buffer): Promise<void> {
  await sql`insert into wallet_owner_keys (fingerprint, sealed) values (${fingerprint}, ${sealed})
    on conflict (fingerprint) do update set sealed = excluded.sealed`.execute(db);
}

/**
 * Returns whether another account that is on hold or permanently rejected has bound the wallet or has ever proven it.
 */
export async function isOwnedByRestricted(
  tx: Db,
  { hashes, address, userId }: { hashes: readonly Buffer[]; address: string; userId: string },
): Promise<boolean> {
  const { rows } = await sql`
    select from users u where u.id <> ${userId}
      and u.id in (select user_id from wallet_owners where hash = any(${hashes}::bytea[])
        union all select user_id from option_addresses where address = ${address}
        union all select user_id from wallet_proofs where address = ${address})
      and (u.held_at is not null
        or exists (select from identity_reviews r where r.user_id = u.id and r.reject_type = 'FINAL'))
    limit 1`.execute(tx);
  return rows.length > 0;
}

export type ProofKey = { partner_id: string; user_id: string; wallet_address: string };

/**
 * Returns whether, for every entry of `keys`, the user has a proof of the wallet with the partner. Until the
 * transaction ends, no other user can prove these wallets with the partner.
 */
export async function lockProofs(tx: Db, keys: readonly ProofKey[]): Promise<boolean> {
  const { rows } = await sql<{ row: bigint }>`
    select n.row from unnest(${keys.map((key) => key.partner_id)}::uuid[], ${keys.map((key) => key.user_id)}::uuid[],
      ${keys.map((key) => key.wallet_address)}::text[]) with ordinality as n (partner_id, user_id, address, row)
    join wallet_proofs w on w.partner_id = n.partner_id and w.user_id = n.user_id and w.address = n.address
    order by w.partner_id, w.address, w.chain for share of w`.execute(tx);
  return new Set(rows.map(({ row }) => row)).size === keys.length;
}

export async function listAddressesOf(tx: Db, userId: string): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select address from wallet_proofs where user_id = ${userId}
    union select address from option_addresses where user_id = ${userId}`.execute(tx);
  return rows.map(({ address }) => address);
}

export async function deleteProofsOf(tx: Db, userId: string): Promise<void> {
  await sql`delete from wallet_proofs where user_id = ${userId}`.execute(tx);
}

export async function listWalletsOf(
  db: Db,
  userId: string,
): Promise<{ partner: string; protocol: string; address: string; proved_at: string }[]> {
  const { rows } = await sql<{ partner: string; protocol: string; address: string; proved_at: string }>`
    select p.name as partner, w.protocol, w.address, min(w.proved_at) as proved_at
    from wallet_proofs w join partners p on p.id = w.partner_id
    where w.user_id = ${userId} group by p.name, w.protocol, w.address order by min(w.proved_at)`.execute(db);
  return rows;
}
