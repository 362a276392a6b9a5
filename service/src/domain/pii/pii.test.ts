import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { testApp } from '../../../test/support/app.ts';
import { startWorld, type World } from '../../../test/support/providers.ts';
import { runHousekeeping } from '../../edges/housekeeping.ts';
import { NO_DATA } from '../../kernel/model/personal-data.ts';
import { findCountry, toAlpha3 } from '../../kernel/places/countries.ts';
import { createSealing } from '../../kernel/sealing.ts';
import { eraseUser } from '../erasure/erasure.ts';
import { rotatePii, savePersonalData } from './pii.ts';
import { openPii } from './sealed-data.ts';

let world: World;
let userId: string;
let token: string;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());
beforeEach(async () => {
  ({ userId, token } = await world.newUser());
});

const level_name = 'BasicKYCLevel';
const pii = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  date_of_birth: '1815-12-10',
  address: { country: 'GB' },
  tax_id: '42',
};
const read = () => world.app.inject({ url: '/v1/pii', headers: { authorization: `Bearer ${token}` } });
const audit = () =>
  world.ctx.db
    .selectFrom('pii_audit')
    .select(['actor', 'action', 'fields'])
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute();
const row = () => world.ctx.db.selectFrom('pii').selectAll().where('user_id', '=', userId).executeTakeFirst();

test('every read and write is audited with actor and fields, never with values', async () => {
  await world.review(userId, { level_name, answer: 'GREEN', pii });
  await world.review(userId, { level_name, answer: 'GREEN', pii: { ...pii, tax_id: '43' } });
  await read();
  const entries = await audit();
  expect(entries).toEqual([
    {
      actor: 'identity provider',
      action: 'write',
      fields: ['full_legal_name', 'first_name', 'last_name', 'date_of_birth', 'tax_id', 'country'],
    },
    { actor: 'identity provider', action: 'write', fields: ['tax_id'] },
    {
      actor: 'client partner-one',
      action: 'read',
      fields: [
        'full_legal_name',
        'date_of_birth',
        'tax_id',
        'street',
        'city',
        'state',
        'postal_code',
        'country',
      ],
    },
  ]);
});

test('a row moved to another user does not open', async () => {
  await world.review(userId, { level_name, answer: 'GREEN', pii });
  const other = '01890000-0000-7000-8000-0000000000bb';
  const stolen = await world.ctx.db
    .selectFrom('pii')
    .select(['sealed', 'sealed_facts', 'version', 'is_stale', 'as_of', 'restricted_until'])
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  const stranger = await world.tokenFor({ userId: other });
  await world.ctx.db
    .insertInto('pii')
    .values({ ...stolen, user_id: other })
    .execute();
  const reply = await world.app.inject({ url: '/v1/pii', headers: { authorization: `Bearer ${stranger}` } });
  expect([reply.statusCode, reply.json().code]).toEqual([500, 'internal_error']);
  await world.ctx.db.deleteFrom('pii').where('user_id', '=', other).execute();
});

test('older data does not replace newer data', async () => {
  const save = (name: string, asOf: string) =>
    world.ctx.db
      .transaction()
      .execute((tx) => savePersonalData(world.ctx, tx, userId, { ...NO_DATA, full_legal_name: name }, asOf));
  await save('new', '2026-03-02T12:00:01.000000Z');
  await save('old', '2026-03-02T12:00:00.000000Z');
  expect((await read()).json().full_legal_name).toBe('new');
});

describe('rotation to a new secret', () => {
  test('reseals every row during reads and writes, so that the old secret is no longer needed', async () => {
    const secrets = [randomBytes(32), ...world.ctx.config.secrets];
    const [newest = Buffer.alloc(0)] = secrets;
    const two = await testApp({
      databaseUrl: world.ctx.pool.options.connectionString as string,
      config: { secrets },
    });
    const ids = Array.from(
      { length: 250 },
      (_, i) => `01890000-0000-7000-8000-1${String(i).padStart(11, '0')}`,
    );
    await sql`insert into users (id, email, kind) select id::uuid, id || '@user.test', 'person' from unnest(${ids}::text[]) as id`.execute(
      world.ctx.db,
    );
    const save = (app: { ctx: World['ctx'] }, id: string, name: string, second: number) =>
      app.ctx.db
        .transaction()
        .execute((tx) =>
          savePersonalData(
            app.ctx,
            tx,
            id,
            { ...NO_DATA, full_legal_name: name },
            `2026-03-02T12:00:0${second}.000000Z`,
          ),
        );
    for (const id of ids) await save(world, id, 'before', 0);

    const tokens = await Promise.all(ids.slice(0, 10).map((id) => two.tokenFor({ userId: id })));
    let running = true;
    const reading = (async () => {
      const names = new Set<string>();
      while (running)
        for (const one of tokens) {
          const reply = await two.app.inject({ url: '/v1/pii', headers: { authorization: `Bearer ${one}` } });
          names.add(`${reply.statusCode} ${reply.json().full_legal_name}`);
        }
      return names;
    })();
    const writing = Promise.all(ids.slice(100, 150).map((id) => save(two, id, 'after', 1)));
    await Promise.all([rotatePii(two.ctx), rotatePii(two.ctx), writing]);
    running = false;
    expect(await reading).toEqual(new Set(['200 before']));

    const alone = createSealing([newest], randomBytes);
    const rows = await world.ctx.db
      .selectFrom('pii')
      .select(['user_id', 'sealed'])
      .where('user_id', 'in', ids)
      .execute();
    const names = rows.map(({ user_id, sealed }) => openPii(alone, user_id, sealed).full_legal_name);
    expect([
      names.filter((name) => name === 'before').length,
      names.filter((name) => name === 'after').length,
    ]).toEqual([200, 50]);
    await two.close();
    await world.ctx.db.deleteFrom('pii').execute();
  });
});

describe('erasure', () => {
  test('deletes the data of a user without retained records immediately and permanently', async () => {
    await world.ctx.db
      .transaction()
      .execute((tx) =>
        savePersonalData(
          world.ctx,
          tx,
          userId,
          { ...NO_DATA, full_legal_name: 'Ada' },
          '2026-03-02T12:00:00.000000Z',
        ),
      );
    const erasure = await eraseUser(world.ctx, `${userId}@user.test`, 'requested');
    expect(erasure).toMatchObject({
      user_id: userId,
      keep_until: null,
      kept: [expect.stringContaining('audit log')],
    });
    expect(await row()).toBeUndefined();
    expect((await audit()).at(-1)).toMatchObject({ actor: 'operator', action: 'erase' });
    await world.call('identity/review', {
      user_id: userId,
      kind: 'person',
      email: 'a@b.c',
      level_name,
      answer: 'GREEN',
      pii,
    });
    expect(await row()).toBeUndefined();
    await expect(eraseUser(world.ctx, 'nobody@user.test', 'requested')).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  test('ends tokens and sign-in and removes the email address', async () => {
    await eraseUser(world.ctx, userId, 'requested');
    let reply = await read();
    while (reply.statusCode === 200) reply = await read();
    expect(reply.json().code).toBe('unauthorized');
    const user = await world.ctx.db
      .selectFrom('users')
      .select(['email', 'password_hash'])
      .where('id', '=', userId)
      .executeTakeFirst();
    expect(user).toEqual({ email: `erased-${userId}@erased.invalid`, password_hash: null });
  });

  test('restricts the data of an identified user and deletes it when retention ends', async () => {
    await world.review(userId, { level_name, answer: 'GREEN', pii });
    const erasure = await eraseUser(world.ctx, userId, 'requested');
    expect(erasure.keep_until).toMatch(/^2031-03-0/);
    expect(erasure.kept.join()).toContain('identification');
    expect(await row()).toMatchObject({ restricted_until: erasure.keep_until });
    expect((await audit()).at(-1)).toMatchObject({ action: 'restrict' });
    const before = world.clock.now();
    world.clock.set(Date.parse(erasure.keep_until ?? '') - 1);
    await runHousekeeping(world.ctx);
    expect(await row()).toBeDefined();
    world.clock.set(Date.parse(erasure.keep_until ?? '') + 1);
    await runHousekeeping(world.ctx);
    world.clock.set(before);
    expect(await row()).toBeUndefined();
    expect((await audit()).at(-1)).toMatchObject({ actor: 'retention', action: 'erase' });
  });

  test('retains the verified data of a user who has reset the identity check', async () => {
    await world.review(userId, { level_name, answer: 'GREEN', pii });
    const reply = await world.app.inject({
      method: 'POST',
      url: '/v1/kyc-token',
      headers: { authorization: `Bearer ${token}` },
      payload: { level_name, reset: true },
    });
    expect(reply.statusCode).toBe(200);
    const { keep_until, kept } = await eraseUser(world.ctx, userId, 'requested');
    expect(keep_until).toMatch(/^2031-03-0/);
    expect(kept.join()).toContain('identification');
    expect(await row()).toMatchObject({ restricted_until: keep_until });
  });

  test('does not extend the retention if the user is erased again', async () => {
    await world.review(userId, { level_name, answer: 'GREEN', pii });
    const { keep_until } = await eraseUser(world.ctx, userId, 'requested');
    const before = world.clock.now();
    world.clock.advance(400 * 86_400);
    const again = await eraseUser(world.ctx, userId, 'requested');
    world.clock.set(before);
    expect(again.keep_until).toBe(keep_until);
    expect(await row()).toMatchObject({ restricted_until: keep_until });
  });

  test('expires open links and returns what the providers still store', async () => {
    await world.review(userId, { level_name, review_status: 'pending' });
    await world.app.inject({
      method: 'POST',
      url: '/v1/documents/tax_certification/submission',
      headers: { authorization: `Bearer ${token}` },
      payload: {},
    });
    const erasure = await eraseUser(world.ctx, userId, 'requested');
    expect(erasure).toMatchObject({
      openSubmissions: [expect.any(Number)],
      applicantId: expect.stringMatching(/^[0-9a-f]{24}$/),
    });
    const { status } = await world.ctx.db
      .selectFrom('document_submissions')
      .select('status')
      .where('user_id', '=', userId)
      .executeTakeFirstOrThrow();
    expect(status).toBe('EXPIRED');
  });
});

test.each([
  ['DEU', 'DE', 'Germany'],
  ['de', 'DE', 'Germany'],
  ['XKX', 'XK', 'Kosovo'],
  ['USA', 'US', 'United States'],
])('country code %s is %s, %s', (code, iso_2, name) => {
  expect(findCountry(code)).toEqual({ iso_2, name });
  expect(findCountry(toAlpha3(iso_2))).toEqual({ iso_2, name });
});

test('unknown country codes are null', () => {
  for (const code of ['', 'ZZ', 'ZZZ', 'Germany', null, undefined]) expect(findCountry(code)).toBeNull();
});
