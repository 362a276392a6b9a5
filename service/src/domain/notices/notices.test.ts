import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { startWorld, type World } from '../../../test/support/providers.ts';
import { partnerOf } from '../../../test/support/tokens.ts';
import { newId } from '../../kernel/ids.ts';
import { timestampOf } from '../../kernel/wire.ts';
import type { Mail } from '../../platform/mail/mail.ts';
import { changeStatus, insertParticipation } from '../holdings/participation-status.ts';
import type { NewParticipation, StatusChange } from '../holdings/participation-store.ts';
import { writeReminders } from '../requirements/reminders.ts';
import { holdUser } from '../users/hold.ts';
import { setLocale } from '../users/store.ts';
import { unsubscribe } from './preferences.ts';
import { deleteOldNotices } from './store.ts';
import { sendNotices } from './worker.ts';

const DAY_S = 86_400;
const LEVEL = 'BasicKYCLevel';
const ACCREDITATION = 'AccreditationIndividual_FullVerification';
const ADDRESS = `0x${'0'.repeat(40)}`;
let world: World;
let userId: string;
let token: string;
let offer: Awaited<ReturnType<typeof makeOffer>>;

beforeAll(async () => {
  world = await startWorld();
  const file = saleFile();
  const accredited = { key: 'accredited', type: 'accreditation' as const };
  const [option] = file.options;
  offer = await makeOffer(world.ctx, {
    ...file,
    options: [{ ...option, requirements: [...(option?.requirements ?? []), accredited] } as never],
  });
  const { db } = world.ctx;
  await sql`insert into operator_keys (chain, address, next_nonce, epoch, node, lease_until) values ('ethereum_sepolia', ${ADDRESS}, 1, 1, 1, now())`.execute(
    db,
  );
  await sql`insert into operator_transactions (id, chain, signer, nonce, kind, target, data, gas)
    values (${partnerOf('partner-one')}, 'ethereum_sepolia', ${ADDRESS}, 0, 'commit', '0x', '', 1)`.execute(
    db,
  );
});
afterAll(() => world.close());
beforeEach(async () => {
  ({ userId, token } = await world.newUser());
});

/** Runs the worker and returns the mails to the user, oldest first. */
async function mails(): Promise<Mail[]> {
  const { ctx } = world;
  await sendNotices(ctx);
  const rows = await ctx.db.selectFrom('mail_outbox').selectAll().orderBy('id').execute();
  return rows
    .map(({ id, mail }): Mail => JSON.parse(ctx.sealing.open('mail', mail, id).toString()))
    .filter(({ to }) => to.startsWith(userId));
}
const subjects = async () => (await mails()).map(({ subject }) => subject);

async function participate(status: 'prepared' | 'pending' = 'prepared'): Promise<string> {
  const { ctx } = world;
  const id = newId(ctx.clock, ctx.random);
  const now = timestampOf(ctx.clock);
  const row = {
    ...{ id, partner_id: partnerOf('partner-one'), user_id: userId, offer_id: offer.id },
    ...{
      offer_option_id: offer.options[0]?.id ?? '',
      status,
      reason: null,
      amount: '1500000',
      price_usd: null,
    },
    ...{ asset_id: 'usd-coin', asset_code: 'USDC', asset_name: 'USD Coin', asset_digits: 6 },
    ...{ chain: 'ethereum_sepolia', wallet_address: ADDRESS, fund_address: ADDRESS, token_address: ADDRESS },
    ...{ vault_address: null, source_address: null, inserted_at: now, updated_at: now },
    approval_hash: Buffer.from(id.replaceAll('-', '').repeat(2), 'hex'),
  };
  await ctx.db.transaction().execute((tx) => insertParticipation(ctx, tx, row as NewParticipation));
  return id;
}
async function move(id: string, ...statuses: StatusChange['to'][]): Promise<void> {
  for (const to of statuses) {
    await sql`update participations set commit_id = ${partnerOf('partner-one')}, commit_row = 0 where id = ${id}`.execute(
      world.ctx.db,
    );
    const from = [await statusOf(id)] as StatusChange['from'];
    await world.ctx.db.transaction().execute((tx) => changeStatus(world.ctx, tx, { ids: [id], from, to }));
  }
}
const statusOf = async (id: string) => {
  const { rows } = await sql<{
    status: string;
  }>`select status from participations where id = ${id}`.execute(world.ctx.db);
  return String(rows[0]?.status);
};
const submitForm = () =>
  world.app.inject({
    ...{ method: 'POST', url: '/v1/documents/tax_certification/submission' },
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    payload: { first_name: 'Ada' },
  });

describe('participations', () => {
  test('acceptance, settlement and refund give one mail each, also after a reorganisation', async () => {
    const id = await participate();
    expect(await subjects()).toEqual([]);
    await move(id, 'pending', 'prepared', 'pending', 'submitted', 'completed', 'submitted', 'completed');
    await move(id, 'remit_submitted', 'remit_failed', 'remit_submitted', 'remitted');
    const sent = await mails();
    expect(sent.map(({ subject }) => subject).sort()).toEqual([
      'Your investment in Harbour is complete',
      'Your investment in Harbour was accepted',
      'Your investment in Harbour was refunded',
    ]);
    for (const { text, html } of sent) {
      expect(text).toContain('1.5 USDC');
      expect(html).toContain('1.5 USDC');
    }
  });

  test('a rolled-back change gives no mail, and several workers queue each mail once', async () => {
    const id = await participate('pending');
    await world.ctx.db
      .transaction()
      .execute(async (tx) => {
        await changeStatus(world.ctx, tx, { ids: [id], from: ['pending'], to: 'failed' });
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    await Promise.all([1, 2, 3, 4].map(() => sendNotices(world.ctx)));
    expect(await subjects()).toEqual(['Your investment in Harbour was accepted']);
  });

  test('a failure tells nothing of its reason, and one that was never accepted gives no mail', async () => {
    const [accepted, refused] = [await participate('pending'), await participate()];
    const fail = (id: string, from: 'pending' | 'prepared') =>
      world.ctx.db
        .transaction()
        .execute((tx) =>
          changeStatus(world.ctx, tx, { ids: [id], from: [from], to: 'failed', reason: 'requirements_lost' }),
        );
    await fail(accepted, 'pending');
    await fail(refused, 'prepared');
    const sent = await mails();
    expect(sent.map(({ subject }) => subject).sort()).toEqual([
      'Your investment in Harbour did not go through',
      'Your investment in Harbour was accepted',
    ]);
    expect(JSON.stringify(sent)).not.toContain('requirements');
  });
});

describe('identity and forms', () => {
  test('each outcome of a review gives one mail, however often the provider repeats it', async () => {
    const approve = { level_name: LEVEL, answer: 'GREEN' as const };
    await world.review(userId, { level_name: LEVEL, answer: 'RED', reject_type: 'RETRY' });
    await world.review(userId, approve);
    await world.review(userId, approve);
    expect((await subjects()).sort()).toEqual([
      'Your identity check needs your attention',
      'Your identity is verified',
    ]);
  });

  test('a user on hold gets the same mails as everyone, and none that names the hold', async () => {
    await holdUser(world.ctx, userId, 'suspicious wallet');
    await world.review(userId, { level_name: LEVEL, answer: 'GREEN' });
    const sent = await mails();
    expect(sent.map(({ subject }) => subject)).toEqual(['Your identity is verified']);
    expect(JSON.stringify(sent)).not.toMatch(/hold|suspicious|restrict/);
  });

  test('a form to sign gives a mail, and its link a reminder before it ends', async () => {
    expect((await submitForm()).json()).toMatchObject({ status: 'SENT' });
    expect((await submitForm()).statusCode).toBe(200);
    await writeReminders(world.ctx);
    expect(await subjects()).toEqual(['A tax form is waiting for your signature']);
    await world.advance(29 * DAY_S);
    await writeReminders(world.ctx);
    await writeReminders(world.ctx);
    expect((await subjects()).slice(1)).toEqual(['Your tax form is not signed yet']);
  });

  test('an accreditation gives one reminder before the first offer stops accepting it', async () => {
    await world.review(userId, { level_name: ACCREDITATION, answer: 'GREEN' });
    await world.advance(70 * DAY_S);
    await writeReminders(world.ctx);
    expect(await subjects()).toEqual(['Your accreditation is confirmed']);
    await world.advance(10 * DAY_S);
    await writeReminders(world.ctx);
    await writeReminders(world.ctx);
    expect((await subjects()).slice(1)).toEqual(['Your accreditation expires soon']);
  });

  test('a signed form gives one reminder in its last two weeks, unless a newer one exists', async () => {
    const { db, clock } = world.ctx;
    const year = new Date(clock.now()).getUTCFullYear();
    await sql`insert into document_submissions (id, user_id, document_type, attempt, form_type, status, pii_version,
        expires_at, completed_at, claimed_at, due_at, inserted_at, updated_at)
      values (gen_random_uuid(), ${userId}, 'tax_certification', 1, 'w8_ben', 'COMPLETED', 0, now(),
        ${`${year - 3}-05-01T00:00:00Z`}, now(), now(), now(), now())`.execute(db);
    await writeReminders(world.ctx);
    expect(await subjects()).toEqual([]);
    await world.advance((Date.UTC(year, 11, 20) - clock.now()) / 1000);
    await writeReminders(world.ctx);
    await writeReminders(world.ctx);
    const [reminder] = await mails();
    expect(reminder?.subject).toBe('Your tax form expires soon');
    expect(reminder?.text).toContain(`31 December ${year}`);
  });
});

test('mails are written in the language of the user', async () => {
  await setLocale(world.ctx.db, userId, 'de');
  await world.review(userId, { level_name: LEVEL, answer: 'GREEN' });
  const [mail] = await mails();
  expect(mail?.subject).toBe('Ihre Identität ist bestätigt');
  expect(mail?.html).toContain('<html lang="de">');
});

test('a topic that the user turned off gives no mail, what is required still does', async () => {
  await unsubscribe(world.ctx, { userId, topic: 'acceptance' });
  await move(await participate('pending'), 'submitted', 'completed');
  const [mail, ...rest] = await mails();
  expect(rest).toEqual([]);
  expect(mail?.subject).toBe('Your investment in Harbour is complete');
  expect(mail?.headers).toBeUndefined();
});

test('notices are deleted after a year, and never before their mail', async () => {
  await participate('pending');
  await sql`update notices set written_at = now() - interval '2 years'`.execute(world.ctx.db);
  await deleteOldNotices(world.ctx);
  expect(await subjects()).toHaveLength(1);
  await sql`update notices set handled_at = now() - interval '2 years'`.execute(world.ctx.db);
  await deleteOldNotices(world.ctx);
  expect(await world.ctx.db.selectFrom('notices').select('id').execute()).toEqual([]);
});

test('a notice that cannot be rendered does not stop the others, and gives its mail once it can be', async () => {
  const { db } = world.ctx;
  const makeDue = () => sql`update notices set retry_at = now() where retry_at is not null`.execute(db);
  await sql`insert into notices (user_id, kind, occurrence, data) values
    (${userId}, 'participation_completed', 'broken', '{"offer": "Quay", "partner": "Acme", "asset": "USDC", "amount": "?", "digits": 6}'),
    (${userId}, 'kind_of_a_newer_version', 'unknown', '{"until": 0}')`.execute(db);
  await participate('pending');
  expect(await subjects()).toEqual(['Your investment in Harbour was accepted']);
  const failures = () => world.logged().match(/"reason":"notice_not_rendered"/g)?.length;
  expect(failures()).toBe(2);
  // The broken notices are not tried again before their retry time.
  expect(await subjects()).toHaveLength(1);
  expect(failures()).toBe(2);
  await makeDue();
  expect(await subjects()).toHaveLength(1);
  expect(failures()).toBe(4);
  await sql`update notices set data = data || '{"amount": "1500000"}' where occurrence = 'broken'`.execute(
    db,
  );
  await sql`update notices set kind = 'form_expiring' where occurrence = 'unknown'`.execute(db);
  await makeDue();
  expect((await subjects()).sort()).toEqual([
    'Your investment in Harbour was accepted',
    'Your investment in Quay is complete',
    'Your tax form expires soon',
  ]);
  await makeDue();
  expect(await subjects()).toHaveLength(3);
});

test('reminders are written in batches, once each, however many are due', async () => {
  const { db } = world.ctx;
  const soon = new Date(world.ctx.clock.now() + DAY_S * 1000).toISOString();
  const count = 1_050;
  await sql`insert into users (id, email, kind)
    select gen_random_uuid(), i || '@reminders.test', 'person'
    from generate_series(1, ${count}::int) i`.execute(db);
  await sql`insert into document_submissions (id, user_id, document_type, attempt, form_type, status, pii_version, expires_at,
      claimed_at, due_at, inserted_at, updated_at)
    select id, id, 'tax_certification', 1, 'w8_ben', 'VIEWED', 0, ${soon}, now(), now(), now(), now()
    from users where email like '%@reminders.test'`.execute(db);
  const written = async () => {
    await writeReminders(world.ctx);
    const { rows } = await sql`select from notices where kind = 'form_link_expiring' and user_id in (
      select id from users where email like '%@reminders.test')`.execute(db);
    return rows.length;
  };
  expect(await written()).toBe(count);
  expect(await written()).toBe(count);
  await sql`delete from users where email like '%@reminders.test'`.execute(db);
});
