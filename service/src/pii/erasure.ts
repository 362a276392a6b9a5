import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { ApiError } from '../errors.ts';
import { isId } from '../http/ids.ts';
import { timestampOf, toTimestamp } from '../http/wire.ts';
import { PII_FIELDS } from './personal-data.ts';
import { insertAudit } from './store.ts';

/**
 * How long identification and tax records are kept after the end of a business relationship: five years, the term of
 * the EU's anti-money-laundering rules (Directive 2015/849, article 40); US rules ask for no more (31 CFR 1010.430).
 */
const RETENTION_YEARS = 5;

export type Erasure = {
  user_id: string;
  erased: string[];
  kept: string[];
  keep_until: string | null;
  /** What the providers still have: their applicant, and links that can still be signed. */
  applicantId: string | null;
  openSubmissions: number[];
};

type Operator = Pick<Context, 'db' | 'clock'>;

/**
 * Forgets a user as far as the law allows, in one transaction. The account ends at once. Personal data of a user who was
 * identified for business are sealed away from everybody until the law's term is over; of others they are deleted now.
 */
export async function eraseUser(ctx: Operator, emailOrId: string): Promise<Erasure> {
  return ctx.db.transaction().execute(async (tx) => {
    const user = await tx
      .selectFrom('users')
      .select(['id', 'email'])
      .where((eb) =>
        isId(emailOrId) ? eb('id', '=', emailOrId) : eb(sql`lower(email)`, '=', emailOrId.toLowerCase()),
      )
      .forUpdate()
      .executeTakeFirst();
    if (user === undefined)
      throw new ApiError('not_found', {}, { message: `There is no user ${emailOrId}.` });
    const reasons = await findReasonsToKeep(tx, user.id);
    const now = new Date(ctx.clock.now());
    const until = Date.UTC(now.getUTCFullYear() + RETENTION_YEARS, now.getUTCMonth(), now.getUTCDate() + 1);
    const keep_until = reasons.length === 0 ? null : toTimestamp(until * 1000);
    await endAccount(tx, user);
    await forgetWallets(tx, user.id);
    await endPii(tx, user.id, keep_until);
    const elsewhere = await endCases(tx, user.id, timestampOf(ctx.clock));
    const kept = [...reasons, 'who read or changed the personal data, and when (not the values)'];
    await tx
      .insertInto('erasures')
      .values({ user_id: user.id, erased_at: timestampOf(ctx.clock), kept, keep_until })
      .onConflict((conflict) => conflict.column('user_id').doUpdateSet({ kept, keep_until }))
      .execute();
    return { user_id: user.id, erased: erasedThings(keep_until), kept, keep_until, ...elsewhere };
  });
}

function erasedThings(keepUntil: string | null): string[] {
  return [
    'e-mail address, password, passkeys and sessions',
    'connections to partner apps, and wallets that never paid for anything',
    'open signing links',
    keepUntil === null
      ? 'personal data'
      : `personal data: nobody can read them any more; they are deleted on ${keepUntil.slice(0, 10)}`,
  ];
}

/** Each is a sentence for the operator, and for the user who asks. */
async function findReasonsToKeep(tx: Db, userId: string): Promise<string[]> {
  const { rows } = await sql<{ reviews: number; forms: number; investments: number }>`select
    (select count(*)::int from participations where user_id = ${userId}) as investments,
    (select count(*)::int from identity_reviews where user_id = ${userId} and answer is not null) as reviews,
    (select count(*)::int from document_submissions where user_id = ${userId} and status = 'COMPLETED') as forms`.execute(
    tx,
  );
  const [{ reviews, forms, investments } = { reviews: 0, forms: 0, investments: 0 }] = rows;
  return [
    ...(investments > 0 ? ['investments: what was paid by which wallet, when, and what became of it'] : []),
    ...(reviews > 0
      ? ['identification: levels, verdicts and their dates, and the data that were verified']
      : []),
    ...(forms > 0
      ? ['tax certification: that a form was signed and when; the signing provider has the form']
      : []),
  ];
}

async function endAccount(tx: Db, { id, email }: { id: string; email: string }): Promise<void> {
  await sql`update oauth_grants set revoked_at = now() where user_id = ${id} and revoked_at is null`.execute(
    tx,
  );
  await sql`delete from oauth_tokens where user_id = ${id}`.execute(tx);
  for (const table of ['passkeys', 'browser_sessions', 'mail_links'])
    await sql`delete from ${sql.table(table)} where user_id = ${id}`.execute(tx);
  await sql`update users set email = ${`erased-${id}@erased.invalid`}, password_hash = null where id = ${id} and email = ${email}`.execute(
    tx,
  );
}

async function endPii(tx: Db, userId: string, keepUntil: string | null): Promise<void> {
  const found =
    keepUntil === null
      ? await sql`delete from pii where user_id = ${userId} returning 1`.execute(tx)
      : await sql`update pii set restricted_until = ${keepUntil} where user_id = ${userId} returning 1`.execute(
          tx,
        );
  if (found.rows.length === 0) return;
  const action = keepUntil === null ? 'erase' : 'restrict';
  await insertAudit(tx, { user_id: userId, actor: 'operator', action, fields: [...PII_FIELDS] });
}

/** A wallet that never paid for anything is nobody's business any more. */
async function forgetWallets(tx: Db, userId: string): Promise<void> {
  await sql`delete from wallet_challenges where user_id = ${userId}`.execute(tx);
  await sql`delete from option_addresses where user_id = ${userId}
    and not exists (select from participations where user_id = ${userId})`.execute(tx);
}

/** Nothing more is asked of, or taken from, the providers about this user. */
async function endCases(
  tx: Db,
  userId: string,
  now: string,
): Promise<Pick<Erasure, 'applicantId' | 'openSubmissions'>> {
  const applicants = await sql<{ applicant_id: string | null }>`
    update identity_applicants set due_at = 'infinity' where user_id = ${userId} returning applicant_id`.execute(
    tx,
  );
  const open = await sql<{
    id: number | null;
  }>`update document_submissions set status = 'EXPIRED', updated_at = ${now}
    where user_id = ${userId} and status in ('INITIALIZED', 'SENT', 'VIEWED')
    returning provider_submission_id::float8 as id`.execute(tx);
  return {
    applicantId: applicants.rows[0]?.applicant_id ?? null,
    openSubmissions: open.rows.flatMap(({ id }) => (id === null ? [] : [id])),
  };
}

/** Deletes what was kept for the law alone, once its term is over. */
export async function erasePiiPastRetention(ctx: Operator): Promise<void> {
  await ctx.db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      user_id: string;
    }>`delete from pii where restricted_until < ${timestampOf(ctx.clock)}
      returning user_id`.execute(tx);
    for (const { user_id } of rows)
      await insertAudit(tx, { user_id, actor: 'retention', action: 'erase', fields: [...PII_FIELDS] });
  });
}
