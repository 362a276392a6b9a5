import { sql } from 'kysely';
import type { ChainName } from '../../kernel/chains.ts';
import type { Keyset } from '../../kernel/paging.ts';
import type { Context } from '../../platform/context/context.ts';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

export type ChallengeKey = Pick<Database['wallet_challenges'], 'client_id' | 'user_id' | 'chain' | 'address'>;
export type ClaimedChallenge = { id: string; text: string };

/** Replaces an earlier one for the same client, user, chain and address. */
export async function putChallenge(
  db: Db,
  challenge: Omit<Database['wallet_challenges'], 'consumed_at'>,
): Promise<void> {
  const { id, text, expires_at } = challenge;
  await db
    .insertInto('wallet_challenges')
    .values({ ...challenge, consumed_at: null })
    .onConflict((conflict) =>
      conflict
        .columns(['client_id', 'user_id', 'chain', 'address'])
        .doUpdateSet({ id, text, expires_at, consumed_at: null }),
    )
    .execute();
}

/** Consumes an open challenge. Exactly one of several concurrent callers succeeds. */
export async function claimChallenge(
  db: Db,
  key: ChallengeKey,
  now: number,
): Promise<ClaimedChallenge | undefined> {
  const time = new Date(now).toISOString();
  const { rows } = await sql<ClaimedChallenge>`
    update wallet_challenges set consumed_at = ${time}
    where client_id = ${key.client_id} and user_id = ${key.user_id} and chain = ${key.chain}
      and address = ${key.address} and consumed_at is null and expires_at > ${time}
    returning id, text`.execute(db);
  return rows[0];
}

/** Reopens a claimed challenge, unless it has expired or been replaced. */
export async function releaseChallenge(db: Db, key: ChallengeKey, id: string, now: number): Promise<void> {
  await sql`
    update wallet_challenges set consumed_at = null
    where client_id = ${key.client_id} and user_id = ${key.user_id} and chain = ${key.chain}
      and address = ${key.address} and id = ${id} and expires_at > ${new Date(now).toISOString()}`.execute(
    db,
  );
}

export async function deleteExpiredWalletChallenges({
  db,
  clock,
}: Pick<Context, 'db' | 'clock'>): Promise<void> {
  const now = new Date(clock.now()).toISOString();
  await deleteInBatches(db, 'wallet_challenges', sql`expires_at < ${now}`);
}

export type BoundAddress = {
  id: string;
  option_id: string;
  user_id: string;
  partner_id: string;
  protocol: 'ethereum' | 'solana';
  address: string;
  inserted_at: string;
};

const BOUND = sql`id, option_id, user_id, partner_id, protocol, address, created_at as inserted_at`;

/** Also protects the offer from changes. Returns when the offer ends, or null. */
export async function lockBindings(
  tx: Db,
  offerId: string,
  optionId: string,
  userId: string,
): Promise<string | null> {
  const { rows } = await sql<{ ends_at: string | null }>`
    select least(ends_at, closed_at) as ends_at,
      pg_advisory_xact_lock(hashtextextended(${`bindings ${optionId} ${userId}`}, 0))
    from offers where id = ${offerId} for share`.execute(tx);
  return rows[0]?.ends_at ?? null;
}

/** Oldest first. Includes another user's binding of `address` to the option. */
export async function listBindings(
  db: Db,
  optionId: string,
  userId: string,
  address: string,
): Promise<BoundAddress[]> {
  const { rows } = await sql<BoundAddress>`
    select ${BOUND} from option_addresses
    where option_id = ${optionId} and (user_id = ${userId} or address = ${address})
    order by created_at, id`.execute(db);
  return rows;
}

export type NewBinding = {
  id: string;
  option_id: string;
  user_id: string;
  partner_id: string;
  protocol: 'ethereum' | 'solana';
  address: string;
  proved_chain: ChainName;
  proved_at: string;
};

/** Returns undefined if the address is already bound to the option. */
export async function insertBinding(tx: Db, binding: NewBinding): Promise<BoundAddress | undefined> {
  const { id, option_id, user_id, partner_id, protocol, address, proved_chain, proved_at } = binding;
  const { rows } = await sql<BoundAddress>`
    insert into option_addresses
      (id, option_id, user_id, partner_id, protocol, address, proved_chain, proved_at, created_at)
    values (${id}, ${option_id}, ${user_id}, ${partner_id}, ${protocol}, ${address}, ${proved_chain},
      ${proved_at}, ${proved_at})
    on conflict (option_id, address) do nothing returning ${BOUND}`.execute(tx);
  return rows[0];
}

/** Returns undefined if the new address is already bound to the option. */
export async function replaceAddress(
  tx: Db,
  id: string,
  { partner_id, address, proved_chain, proved_at }: NewBinding,
): Promise<BoundAddress | undefined> {
  try {
    const { rows } = await sql<BoundAddress>`
      update option_addresses set address = ${address}, partner_id = ${partner_id},
        proved_chain = ${proved_chain}, proved_at = ${proved_at}
      where id = ${id} returning ${BOUND}`.execute(tx);
    return rows[0];
  } catch (error) {
    if ((error as { constraint?: string }).constraint === 'option_addresses_option_id_address_key')
      return undefined;
    throw error;
  }
}

export async function findBinding(
  db: Db,
  offerId: string,
  userId: string,
  id: string,
): Promise<BoundAddress | undefined> {
  const { rows } = await sql<BoundAddress>`
    select ${BOUND} from option_addresses where id = ${id} and user_id = ${userId}
      and option_id in (select o.id from offer_options o where o.offer_id = ${offerId})`.execute(db);
  return rows[0];
}

export async function deleteBinding(tx: Db, id: string): Promise<BoundAddress | undefined> {
  const { rows } = await sql<BoundAddress>`
    delete from option_addresses where id = ${id} returning ${BOUND}`.execute(tx);
  return rows[0];
}

export async function listUserBindings(
  db: Db,
  userId: string,
  optionIds: readonly string[],
  { direction, position, limit }: Keyset,
): Promise<BoundAddress[]> {
  const order = sql.raw(direction === 'older' ? 'desc' : 'asc');
  const beyond =
    position === null
      ? sql`true`
      : sql`(created_at, id) ${sql.raw(direction === 'older' ? '<' : '>')} (${position.inserted_at}::timestamptz, ${position.id}::uuid)`;
  const { rows } = await sql<BoundAddress>`
    select ${BOUND} from option_addresses
    where user_id = ${userId} and option_id = any(${[...optionIds]}::uuid[]) and ${beyond}
    order by created_at ${order}, id ${order} limit ${limit}`.execute(db);
  return rows;
}

/** Keeps the bindings of a user who has participated or traded tokenized assets. */
export async function deleteUserWallets(tx: Db, userId: string): Promise<void> {
  await sql`delete from wallet_challenges where user_id = ${userId}`.execute(tx);
  await sql`delete from option_addresses where user_id = ${userId}
    and not exists (select from participations where user_id = ${userId})
    and not exists (select from tokenized_orders where user_id = ${userId} and state in ('live', 'executed'))`.execute(
    tx,
  );
}

/** `subject_id` is the id of the oldest binding, or the user's id if the wallet is proven but not bound. */
type AddressHolder = { subject_id: string; address: string; user_id: string; partner_id: string };

export async function listByAddresses(tx: Db, addresses: readonly string[]): Promise<AddressHolder[]> {
  const { rows } = await sql<AddressHolder>`
    select distinct on (user_id, partner_id, address) subject_id, address, user_id, partner_id from (
      select id as subject_id, address, user_id, partner_id, created_at from option_addresses
      where address = any(${addresses}::text[])
      union all
      select user_id, address, user_id, partner_id, 'infinity' from wallet_proofs
      where address = any(${addresses}::text[])) held
    order by user_id, partner_id, address, created_at`.execute(tx);
  return rows;
}
