import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { PERSON_KEY } from '../../../test/support/facts.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { run as runOffer } from '../../edges/cli/offer-command.ts';
import { factsOf, NO_DATA } from '../../kernel/model/personal-data.ts';
import { readOfferBySlug } from '../offers/store.ts';
import { sealPii } from '../pii/sealed-data.ts';
import type { OfferFile } from './file-schema.ts';

/** The number of users, a multiple of 60. Set `PLAN_USERS=1000020` to measure the time for a million users. */
const USERS = Number(process.env.PLAN_USERS ?? 600);
const BATCH = 5_000;
const FACTS = { ...factsOf(NO_DATA, 'person', PERSON_KEY), region: 'NY', isComplete: true };
const folder = mkdtempSync(join(tmpdir(), 'causeway-plan-'));
let one: TestApp;

beforeAll(async () => {
  one = await testApp();
  for (let from = 0; from < USERS; from += BATCH) await seed(from, Math.min(USERS, from + BATCH));
  await sql`analyze`.execute(one.ctx.db);
}, 1_200_000);
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await one.close();
});

const id = (n: number) => `01890000-0000-7000-8000-${n.toString(16).padStart(12, '0')}`;

/**
 * Creates users. All are approved, and every fifth is accredited. Every fourth has no personal data yet. Of the others,
 * every third lives in the US.
 */
async function seed(from: number, to: number): Promise<void> {
  const { db, sealing } = one.ctx;
  const users = Array.from({ length: to - from }, (_, i) => from + i);
  const ids = users.map(id);
  await sql`insert into users (id, email, kind) select u, u || '@user.test', 'person' from unnest(${ids}::uuid[]) u`.execute(
    db,
  );
  const known = users.filter((n) => n % 4 !== 0);
  const sealed = known.map((n) => {
    const country = n % 3 === 0 ? 'US' : 'DE';
    return sealPii(sealing, id(n), NO_DATA, { ...FACTS, country, isUnitedStates: country === 'US' });
  });
  await sql`insert into pii (user_id, sealed, sealed_facts, version, as_of) select u, s, f, 1, now()
    from unnest(${known.map(id)}::uuid[], ${sealed.map((row) => row.sealed)}::bytea[],
      ${sealed.map((row) => row.sealed_facts)}::bytea[]) t(u, s, f)`.execute(db);
  const levels = [
    ['BasicKYCLevel', users],
    ['AccreditationIndividual_FullVerification', users.filter((n) => n % 5 === 0)],
  ] as const;
  for (const [level, reviewed] of levels)
    await sql`insert into identity_reviews (user_id, level_name, review_status, answer, reviewed_at, as_of, person_hash)
      select u, ${level}, 'completed', 'GREEN', now(), now(), decode(${FACTS.person}, 'hex') from unnest(${reviewed.map(id)}::uuid[]) u`.execute(
      db,
    );
}

async function plan(file: OfferFile): Promise<string> {
  const path = join(folder, 'plan.yaml');
  writeFileSync(path, stringify(file));
  const out: string[] = [];
  vi.spyOn(console, 'log').mockImplementation((text: string) => void out.push(text));
  const config = { ...one.ctx.config, databaseUrl: String(one.ctx.pool.options.connectionString) };
  await runOffer(config, ['apply', path, '--plan']);
  vi.restoreAllMocks();
  return out.join('\n');
}

type Requirements = OfferFile['options'][number]['requirements'];
const KYC: Requirements[number] = { type: 'kyc_approved', details: null };
const NOT_US: Requirements[number] = {
  ...{ type: 'jurisdiction', details: { filter_type: 'reject', filters: [{ country_iso_2: 'US' }] } },
};
const ACCREDITED: Requirements[number] = { type: 'accreditation', details: null };
const file = (...options: [string, Requirements][]) =>
  saleFile({
    slug: 'planned',
    options: options.map(([slug, requirements]) => ({ slug, requirements })) as OfferFile['options'],
  });
const text = (count: number) => count.toLocaleString('en-US');

test('apply --plan counts who gains and who loses by each changed rule, and applies nothing', async () => {
  await makeOffer(one.ctx, file(['standard', [KYC, ACCREDITED]], ['same', []]));
  const before = await readOfferBySlug(one.ctx.db, 'planned');
  const began = performance.now();
  const printed = await plan(file(['standard', [KYC, NOT_US]], ['same', []], ['open', []]));
  if (USERS > 100_000) console.error(`${USERS} users in ${Math.round(performance.now() - began)} ms`);
  // Of 60 users, 45 have personal data. Of these 45, 9 are accredited, 30 live outside the US, and 6 fall into both
  // groups.
  const of = (share: number) => text((USERS / 60) * share);
  expect(printed).toContain(`Eligibility of ${text(USERS)} users:`);
  expect(printed).toContain(
    `planned: options.standard: ${of(9)} → ${of(30)} users eligible (${of(24)} gain, ${of(3)} lose)`,
  );
  expect(printed).toContain(`  ~ accreditation: ${of(36)} gain, 0 lose`);
  expect(printed).toContain(`  ~ jurisdiction reject: 0 gain, ${of(3)} lose`);
  expect(printed).toContain(`planned: options.open: new option, ${text(USERS)} users eligible`);
  expect(printed).not.toContain('options.same:');
  expect(await readOfferBySlug(one.ctx.db, 'planned')).toEqual(before);
}, 1_200_000);

test('a file without rule changes affects nobody', async () => {
  expect(await plan({ ...file(['standard', [KYC, ACCREDITED]], ['same', []]), name: 'Other' })).toContain(
    'No rule changes',
  );
});
