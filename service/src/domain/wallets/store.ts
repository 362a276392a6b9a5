import { type Selectable, sql } from 'kysely';
import type { Db } from '../../platform/db/pool.ts';
import type { Database } from '../../platform/db/tables.ts';

/** A user's permission to have a wallet on an offer's allow-list. `state` says what has become of the permission. */
export type Verification = Omit<Selectable<Database['allow_verifications']>, 'check_at'>;

/** A wallet's entry in an allow-list contract. Verifications of several users and offers can justify the same entry. */
export type Entry = Pick<Verification, 'chain' | 'contract' | 'wallet'>;

type VerificationKey = Entry & Pick<Verification, 'offer_id' | 'user_id'>;
export type NewVerification = VerificationKey & { id: string; partner_id: string; deadline: string };

const KEY_COLUMNS = ['offer_id', 'user_id', 'chain', 'contract', 'wallet'] as const;
const COLUMNS = sql`id, offer_id, user_id, partner_id, chain, contract, wallet, state, deadline, inserted_at, updated_at`;
/** Matches verifications whose wallet the chain allows (`allowed`) or may allow soon (`permitted`). */
const STANDING = sql`state in ('permitted', 'allowed')`;

const isOf = ({ chain, contract, wallet }: Entry) =>
  sql`wallet = ${wallet} and chain = ${chain} and contract = ${contract}`;

/** Starts a verification, or restarts the existing one for the same offer, user, wallet and allow-list. */
export async function startVerification(tx: Db, verification: NewVerification, time: string): Promise<void> {
  const { partner_id, deadline } = verification;
  const changes = { state: 'permitted' as const, partner_id, deadline, updated_at: time };
  await tx
    .insertInto('allow_verifications')
    .values({ ...verification, ...changes, inserted_at: time })
    .onConflict((conflict) =>
      conflict.columns(KEY_COLUMNS).doUpdateSet({ ...changes, check_at: '-infinity' }),
    )
    .execute();
}

/** Returns undefined if that was already recorded. */
export async function putAllowed(
  tx: Db,
  { partner_id, deadline, ...key }: NewVerification,
  time: string,
): Promise<Verification | undefined> {
  const { rows } = await sql<Verification>`
    insert into allow_verifications (id, offer_id, user_id, partner_id, chain, contract, wallet, state, deadline,
      inserted_at, updated_at)
    values (${key.id}, ${key.offer_id}, ${key.user_id}, ${partner_id}, ${key.chain}, ${key.contract}, ${key.wallet},
      'allowed', ${deadline}, ${time}, ${time})
    on conflict (offer_id, user_id, chain, contract, wallet) do update
      set state = 'allowed', partner_id = excluded.partner_id, updated_at = excluded.updated_at, check_at = '-infinity'
      where allow_verifications.state <> 'allowed'
    returning ${COLUMNS}`.execute(tx);
  return rows[0];
}

/** Returns undefined if the verification is not `permitted`. */
export async function finishVerification(
  tx: Db,
  key: VerificationKey,
  state: 'allowed' | 'expired',
  time: string,
): Promise<Verification | undefined> {
  const { rows } = await sql<Verification>`
    update allow_verifications set state = ${state}, updated_at = ${time}, check_at = '-infinity'
    where offer_id = ${key.offer_id} and user_id = ${key.user_id} and ${isOf(key)} and state = 'permitted'
    returning ${COLUMNS}`.execute(tx);
  return rows[0];
}

/** Lists verifications whose transaction may still be mined, least recently updated first, behind `after`. */
export async function listPermitted(
  db: Db,
  after: Pick<Verification, 'id' | 'updated_at'> | null,
  limit: number,
): Promise<Verification[]> {
  const beyond = after === null ? sql`` : sql`and (updated_at, id) > (${after.updated_at}, ${after.id})`;
  const { rows } = await sql<Verification>`
    select ${COLUMNS} from allow_verifications where state = 'permitted' ${beyond}
    order by updated_at, id limit ${limit}`.execute(db);
  return rows;
}

/** Leases verifications whose check is due. No other node takes them before `leaseUntil`. */
export async function takeDue(
  db: Db,
  { now, leaseUntil, limit }: { now: string; leaseUntil: string; limit: number },
): Promise<Verification[]> {
  const { rows } = await sql<Verification>`
    update allow_verifications set check_at = ${leaseUntil} where id in (
      select id from allow_verifications where ${STANDING} and check_at <= ${now}
      order by check_at limit ${limit} for update skip locked)
    returning ${COLUMNS}`.execute(db);
  return rows;
}

/** Does nothing if the check became due again during the lease, because the user's facts changed. */
export async function setNextCheck(
  db: Db,
  id: string,
  { leaseUntil, next }: { leaseUntil: string; next: string },
): Promise<void> {
  await sql`update allow_verifications set check_at = ${next} where id = ${id} and check_at = ${leaseUntil}`.execute(
    db,
  );
}

/** Every screening calls this for the wallets on the sanctions list. */
export async function makeWalletsDue(tx: Db, wallets: readonly string[]): Promise<void> {
  await sql`update allow_verifications set check_at = '-infinity'
    where wallet = any(${wallets}::text[]) and ${STANDING}`.execute(tx);
}

export async function listOthers(db: Db, row: Verification): Promise<Verification[]> {
  const { rows } = await sql<Verification>`
    select ${COLUMNS} from allow_verifications where ${isOf(row)} and ${STANDING} and user_id <> ${row.user_id}`.execute(
    db,
  );
  return rows;
}

/** The allow-list entry stays, because another user's verification justifies it. */
export async function dropVerification(db: Db, id: string, time: string): Promise<void> {
  await sql`update allow_verifications set state = 'expired', updated_at = ${time}
    where id = ${id} and ${STANDING}`.execute(db);
}

export async function listEntriesOf(tx: Db, userId: string): Promise<Entry[]> {
  const { rows } = await sql<Entry>`
    select distinct chain, contract, wallet from allow_verifications where user_id = ${userId} and ${STANDING}`.execute(
    tx,
  );
  return rows;
}

export async function hasRevoking(tx: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select from allow_verifications where user_id = ${userId} and state = 'revoking' limit 1`.execute(tx);
  return rows.length > 0;
}

/** Returns whether any of the user's wallets was permitted on an allow-list, even if the permission has ended. */
export async function hasVerifications(tx: Db, userId: string): Promise<boolean> {
  const { rows } = await sql`
    select from allow_verifications where user_id = ${userId} limit 1`.execute(tx);
  return rows.length > 0;
}

export async function startRevoking(tx: Db, entry: Entry, time: string): Promise<number> {
  const { numAffectedRows } = await sql`
    update allow_verifications set state = 'revoking', updated_at = ${time} where ${isOf(entry)} and ${STANDING}`.execute(
    tx,
  );
  return Number(numAffectedRows ?? 0n);
}

export async function markRevoked(tx: Db, entry: Entry, time: string): Promise<Verification[]> {
  const { rows } = await sql<Verification>`
    update allow_verifications set state = 'revoked', updated_at = ${time}
    where ${isOf(entry)} and state = 'revoking' returning ${COLUMNS}`.execute(tx);
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** How long a revocation waits after its transaction reverted. */
const REVERTED_DELAY = '60 seconds';

/** Only one transaction at a time permits or revokes an entry. */
export async function lockEntry(tx: Db, { chain, contract, wallet }: Entry): Promise<void> {
  const key = `allow-list ${chain} ${contract} ${wallet}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0))`.execute(tx);
}

/** Queues a revocation. Does nothing if another revocation of the entry is open. */
export async function insertRevocation(
  tx: Db,
  { id, chain, contract, wallet }: Entry & { id: string },
  time: string,
): Promise<void> {
  await sql`insert into allow_revocations (id, chain, contract, wallet, inserted_at)
    values (${id}, ${chain}, ${contract}, ${wallet}, ${time})
    on conflict (chain, contract, wallet) where state <> 'done' do nothing`.execute(tx);
}

export async function hasOpenRevocation(db: Db, { chain, contract, wallet }: Entry): Promise<boolean> {
  const { rows } = await sql`
    select from allow_revocations where chain = ${chain} and contract = ${contract} and wallet = ${wallet}
      and state <> 'done'`.execute(db);
  return rows.length > 0;
}

export type Revocation = Entry & { id: string };

/** Returns the chain's oldest revocation that is due to be sent. */
export async function findNextRevocation(db: Db, chain: string): Promise<Revocation | undefined> {
  const { rows } = await sql<Revocation>`
    select id, chain, contract, wallet from allow_revocations
    where chain = ${chain} and state = 'waiting' and send_at <= now() order by inserted_at, id limit 1`.execute(
    db,
  );
  return rows[0];
}

export async function postponeRevocation(db: Db, id: string, seconds: number): Promise<void> {
  await sql`update allow_revocations set send_at = now() + make_interval(secs => ${seconds})
    where id = ${id}`.execute(db);
}

/** Throws if the revocation is already assigned. */
export async function assignRevocation(tx: Db, id: string, transactionId: string): Promise<void> {
  const { numAffectedRows } = await sql`
    update allow_revocations set state = 'sent', transaction_id = ${transactionId}
    where id = ${id} and state = 'waiting'`.execute(tx);
  if (numAffectedRows !== 1n) throw new Error('the state of a revocation changed concurrently');
}

/** Returns the revoked entry, or undefined if no sent revocation belongs to the transaction. */
export async function markRevocationDone(tx: Db, transactionId: string): Promise<Entry | undefined> {
  const { rows } = await sql<Entry>`
    update allow_revocations set state = 'done' where transaction_id = ${transactionId} and state = 'sent'
    returning chain, contract, wallet`.execute(tx);
  return rows[0];
}

/** The transaction had no effect. If the wallet was revoked in the meantime, the second revocation is harmless. */
export async function releaseRevocation(tx: Db, transactionId: string): Promise<void> {
  await sql`update allow_revocations set state = 'waiting', transaction_id = null,
      send_at = now() + ${REVERTED_DELAY}::interval
    where transaction_id = ${transactionId} and state = 'sent'`.execute(tx);
}

export async function countOpenRevocations(db: Db): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from allow_revocations where state <> 'done'`.execute(db);
  return rows[0]?.count ?? 0;
}

/** A reorganization undid it. The settlement worker sends the transaction again; the events are not appended again. */
export async function reopenRevocation(tx: Db, transactionId: string): Promise<void> {
  await sql`update allow_revocations r set state = 'sent' where r.transaction_id = ${transactionId} and r.state = 'done'
    and not exists (select from allow_revocations o where o.chain = r.chain and o.contract = r.contract
      and o.wallet = r.wallet and o.state <> 'done')`.execute(tx);
}
