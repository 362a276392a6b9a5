import { sql } from 'kysely';
import { sealPii } from '../../src/domain/pii/sealed-data.ts';
import { factsOf, NO_DATA } from '../../src/kernel/model/personal-data.ts';
import type { Context } from '../../src/platform/context/context.ts';
import { USER } from './tokens.ts';

const LEVELS = ['Sorting_KYC_Level', 'BasicKYCLevel', 'AccreditationIndividual_FullVerification'] as const;
export type TestLevel = (typeof LEVELS)[number];

/** The key of the hashes that identify persons. The same for all test users, which makes facts easier to replace. */
export const PERSON_KEY = Buffer.alloc(32, 1).toString('base64');

type Parts = Pick<Context, 'db' | 'clock' | 'sealing'>;

export type FactsOptions = {
  userId?: string;
  country?: string;
  /**
   * The levels of the identity check that are not approved, each with its review; null = no review. Default: every
   * level is approved.
   */
  reviews?: Partial<Record<TestLevel, 'RETRY' | 'FINAL' | 'pending' | null>>;
  isActive?: boolean;
  hasForm?: boolean;
};

/** Stores the facts of a user who meets every requirement, with the given changes. */
export async function putFacts(ctx: Parts, options: FactsOptions = {}): Promise<void> {
  const { userId = USER, country = 'DE', reviews = {}, isActive = true, hasForm = true } = options;
  const now = new Date(ctx.clock.now()).toISOString();
  const { db, sealing } = ctx;
  const data = { ...NO_DATA, full_legal_name: 'Ada', date_of_birth: '1990-01-01', country };
  const facts = factsOf(data, 'person', PERSON_KEY);
  const { sealed, sealed_facts } = sealPii(sealing, userId, data, facts);
  await sql`insert into pii (user_id, sealed, sealed_facts, version, as_of)
    values (${userId}, ${sealed}, ${sealed_facts}, 1, ${now})
    on conflict (user_id) do update set sealed = excluded.sealed, sealed_facts = excluded.sealed_facts`.execute(
    db,
  );
  await sql`insert into identity_applicants (user_id, is_active, due_at) values (${userId}, ${isActive}, 'infinity')
    on conflict (user_id) do update set is_active = excluded.is_active`.execute(db);
  await sql`delete from identity_reviews where user_id = ${userId}`.execute(db);
  for (const level of LEVELS) {
    const change = reviews[level];
    if (change === null) continue;
    const [status, answer, reject] =
      change === 'pending'
        ? ['pending', null, null]
        : ['completed', change === undefined ? 'GREEN' : 'RED', change ?? null];
    await sql`insert into identity_reviews (user_id, level_name, review_status, answer, reject_type, reviewed_at, as_of,
        person_hash)
      values (${userId}, ${level}, ${status}, ${answer}, ${reject}, ${answer === null ? null : now}, ${now},
        ${answer === 'GREEN' ? Buffer.from(facts.person, 'hex') : null})`.execute(db);
  }
  await sql`delete from document_submissions where user_id = ${userId}`.execute(db);
  if (hasForm)
    await sql`insert into document_submissions (id, user_id, document_type, attempt, form_type, status, pii_version,
        expires_at, completed_at, claimed_at, due_at, inserted_at, updated_at)
      values (gen_random_uuid(), ${userId}, 'tax_certification', 1, 'w8_ben', 'COMPLETED', 1, ${now}::timestamptz +
        interval '300 days', ${now}, ${now}, ${now}, ${now}, ${now})`.execute(db);
}
