import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { confirmEmailChange } from '../src/domain/accounts/change-email.ts';
import { createChangeEmailLink } from '../src/domain/accounts/mail-link-store.ts';
import { insertPasskey, listPasskeys } from '../src/domain/accounts/passkey-store.ts';
import { readSecondFactor, resealTotpSecrets } from '../src/domain/accounts/second-factor.ts';
import { deleteSessionsOf } from '../src/domain/accounts/session-store.ts';
import { totpCode, totpStep } from '../src/domain/accounts/totp.ts';
import { sealPii } from '../src/domain/pii/sealed-data.ts';
import { holdUser } from '../src/domain/users/hold.ts';
import { newId } from '../src/kernel/ids.ts';
import { factsOf, NO_DATA } from '../src/kernel/model/personal-data.ts';
import { createSealing } from '../src/kernel/sealing.ts';
import { TEST_SECRET } from './setup/secret.ts';
import { expectAudited } from './support/audited.ts';
import { PERSON_KEY, putFacts } from './support/facts.ts';
import { ADDRESS, makeOffer, tokenizedFile } from './support/offers.ts';
import { linkIn, PASSWORD, type Site, startSite } from './support/site.ts';
import { partnerOf } from './support/tokens.ts';
import { newVisitor, type Visitor } from './support/visitor.ts';
import { proveWallets } from './support/wallets.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite();
});

afterAll(() => site.close());

const NEW_PASSWORD = 'another quiet harbour';
let count = 0;
const newEmail = () => `user-${count++}@security.test`;

async function newUser(): Promise<{ id: string; email: string }> {
  const email = newEmail();
  return { id: await site.makeUser(email), email };
}

async function signIn(email: string, password = PASSWORD, visitor = newVisitor(site.app)): Promise<Visitor> {
  await visitor.get('/sign-in');
  const reply = await visitor.post('/sign-in', { email, password });
  expect(reply.headers.location).toBe('/account');
  await visitor.get('/account');
  return visitor;
}

async function isSignedIn(visitor: Visitor): Promise<boolean> {
  return (await visitor.get('/account')).statusCode === 200;
}

/** Makes the user's sign-ins too old for changing a sign-in method. */
async function letSignInsAge(userId: string): Promise<void> {
  await sql`update browser_sessions set expires_at = expires_at - interval '5 minutes' where user_id = ${userId}`.execute(
    site.ctx.db,
  );
}

const sessionsOf = async (userId: string) =>
  (
    await sql<{ id: string; signed_in_at: string }>`select id, signed_in_at from browser_sessions
      where user_id = ${userId}`.execute(site.ctx.db)
  ).rows;

/**
 * Ends all the user's sessions in a transaction, as a password reset does. Starts `act`, and commits once `act` waits
 * for the transaction.
 */
async function whileSessionsEnd<T>(userId: string, act: () => Promise<T>): Promise<T> {
  const { ctx } = site;
  let acting: Promise<T> | undefined;
  await ctx.db.transaction().execute(async (tx) => {
    await sql`update users set password_hash = null where id = ${userId}`.execute(tx);
    await deleteSessionsOf(tx, userId);
    acting = act();
    await expect
      .poll(
        async () =>
          (
            await sql`select from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock'`.execute(ctx.db)
          ).rows.length,
        { timeout: 20_000 },
      )
      .toBeGreaterThan(0);
  });
  return acting as Promise<T>;
}

const decode = (secret: string) => {
  const bits = [...secret].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  return Buffer.from((bits.join('').match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
};
const codeOf = (secret: string, offset = 0) => totpCode(decode(secret), totpStep(Date.now()) + offset);

/** Turns on the second factor. This uses up the code of the current time step. */
async function enroll(visitor: Visitor): Promise<{ secret: string; used: string; recoveryCodes: string[] }> {
  const page = await visitor.get('/account/second-factor');
  const secret = (/class="secret">([A-Z2-7 ]+)</.exec(page.body)?.[1] ?? '').replaceAll(' ', '');
  expect(secret).toHaveLength(32);
  // The first dark module of the QR code stands behind a quiet zone of four modules.
  expect(page.body).toMatch(/<svg viewBox="0 0 (\d+) \1" role="img" aria-label="QR code".* d="M4 4h1v1h-1z/);
  const used = codeOf(secret);
  const reply = await visitor.post('/account/second-factor', { code: used });
  const recoveryCodes = [...reply.body.matchAll(/<li><code>([A-Z2-7-]+)<\/code>/g)].map(([, code]) =>
    String(code),
  );
  expect(recoveryCodes).toHaveLength(10);
  return { secret, used, recoveryCodes };
}

/** Sends the password and stops at the page that asks for a code. */
async function enterPassword(email: string): Promise<Visitor> {
  const visitor = newVisitor(site.app);
  await visitor.get('/sign-in');
  const reply = await visitor.post('/sign-in', { email, password: PASSWORD });
  expect(reply.headers.location).toBe('/sign-in/code');
  expect(await isSignedIn(visitor)).toBe(false);
  expect((await visitor.get('/sign-in/code')).statusCode).toBe(200);
  return visitor;
}

describe('every change of the account', () => {
  test.each([
    ['GET', '/account/password'],
    ['GET', '/account/email'],
    ['GET', '/account/second-factor'],
    ['GET', '/account/delete'],
    ['POST', '/account/password'],
    ['POST', '/account/email'],
    ['POST', '/account/second-factor'],
    ['POST', '/account/second-factor/remove'],
    ['POST', '/account/export'],
    ['POST', '/account/delete'],
  ])('needs a recent sign-in: %s %s', async (method, path) => {
    const { id, email } = await newUser();
    const visitor = await signIn(email);
    await letSignInsAge(id);
    const fields: Record<string, string> = {
      '/account/password': 'password',
      '/account/email': 'email',
      '/account/second-factor': 'code',
      '/account/delete': 'confirm',
    };
    const field = fields[path];
    const reply =
      method === 'GET'
        ? await visitor.get(path)
        : await visitor.post(path, field === undefined ? {} : { [field]: NEW_PASSWORD });
    expect(reply.headers.location).toMatch(/^\/sign-in\?again=yes/);
    const stranger = newVisitor(site.app);
    await stranger.get('/sign-in');
    const foreign =
      method === 'GET'
        ? await stranger.get(path)
        : await stranger.post(path, field === undefined ? {} : { [field]: 'x' });
    expect(foreign.headers.location).toBe('/sign-in');
  });

  test('returns to the form after the sign-in', async () => {
    const { id, email } = await newUser();
    const visitor = await signIn(email);
    await letSignInsAge(id);
    const reply = await visitor.get('/account/password');
    await visitor.get(String(reply.headers.location));
    const again = await visitor.post('/sign-in', { email, password: PASSWORD, next: '/account/password' });
    expect(again.headers.location).toBe('/account/password');
    for (const next of [
      '//evil.test',
      '/account/export',
      '/account/../x',
      'https://evil.test/account/email',
    ]) {
      const other = newVisitor(site.app);
      await other.get('/sign-in');
      const redirect = await other.post('/sign-in', { email, password: PASSWORD, next });
      expect(redirect.headers.location).toBe('/account');
    }
  });

  test.each([
    '/account/sessions/end',
    '/account/sessions/end-all',
    '/account/password',
    '/account/email',
    '/account/email/confirm',
    '/account/second-factor',
    '/account/second-factor/remove',
    '/account/export',
    '/account/delete',
    '/sign-in/code',
  ])('rejects forged forms: %s', async (path) => {
    const { email } = await newUser();
    const visitor = await signIn(email);
    const other = await signIn(email);
    for (const csrf of ['', other.csrf()]) expect((await visitor.post(path, { csrf })).statusCode).toBe(403);
    const headers = { 'sec-fetch-site': 'cross-site' };
    expect((await visitor.post(path, {}, headers)).statusCode).toBe(403);
  });
});

describe('sessions', () => {
  test('are listed with browser and network, and one can be signed out', async () => {
    const { id, email } = await newUser();
    const visitor = await signIn(email);
    const other = newVisitor(site.app);
    await other.get('/sign-in');
    const agent =
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 Version/18.1 Safari/604.1';
    await other.post('/sign-in', { email, password: PASSWORD }, { 'user-agent': agent });
    const page = await visitor.get('/account');
    expect(page.body).toContain('Safari on iPhone');
    expect(page.body).toContain('Network 127.0.0.x');
    const sessionId = /sessions\/end">.*?name="id" value="([^"]+)"/s.exec(page.body)?.[1] ?? '';
    const stranger = await signIn((await newUser()).email);
    await stranger.post('/account/sessions/end', { id: sessionId });
    expect(await isSignedIn(other)).toBe(true);
    await visitor.get('/account');
    await visitor.post('/account/sessions/end', { id: sessionId });
    expect([await isSignedIn(visitor), await isSignedIn(other)]).toEqual([true, false]);
    for (const odd of ['', 'x', id]) {
      const reply = await visitor.post('/account/sessions/end', { id: odd });
      expect(reply.statusCode).toBe(303);
    }
    await expectAudited(site.ctx, 'user.session_ended');
  });

  test('all end at once, this one included, and nobody else is signed out', async () => {
    const { email } = await newUser();
    const [visitor, other] = [await signIn(email), await signIn(email)];
    const stranger = await signIn((await newUser()).email);
    await visitor.post('/account/sessions/end-all');
    expect([await isSignedIn(visitor), await isSignedIn(other), await isSignedIn(stranger)]).toEqual([
      false,
      false,
      true,
    ]);
    await expectAudited(site.ctx, 'user.signed_out_everywhere');
  });
});

test('the last use of a session is recorded once a minute', async () => {
  const { id, email } = await newUser();
  const visitor = await signIn(email);
  const readUse = async () =>
    (
      await sql<{
        used_at: string;
      }>`select used_at from browser_sessions where user_id = ${id}`.execute(site.ctx.db)
    ).rows[0]?.used_at;
  await sql`update browser_sessions set used_at = now() - interval '2 minutes' where user_id = ${id}`.execute(
    site.ctx.db,
  );
  const stale = await readUse();
  await visitor.get('/account');
  const recorded = await readUse();
  expect(recorded).not.toBe(stale);
  await visitor.get('/account');
  expect(await readUse()).toBe(recorded);
});

describe('changing the password', () => {
  test('signs out every other browser, replaces this cookie and voids open links', async () => {
    const { id, email } = await newUser();
    const visitor = await signIn(email);
    const other = await signIn(email);
    await other.get('/forgot');
    await other.post('/forgot', { email });
    const link = new URL(linkIn(await site.mailTo(email, /Set a new password/)));
    const before = String(visitor.cookie());
    const sessions = await sessionsOf(id);
    await visitor.get('/account/password');
    expect((await visitor.post('/account/password', { password: 'short' })).statusCode).toBe(422);
    expect((await visitor.post('/account/password', { password: NEW_PASSWORD })).statusCode).toBe(303);
    expect([await isSignedIn(visitor), await isSignedIn(other)]).toEqual([true, false]);
    const kept = await sessionsOf(id);
    expect(kept).toHaveLength(1);
    expect(sessions).toContainEqual(kept[0]);
    const thief = newVisitor(site.app);
    thief.setCookie(before);
    expect(await isSignedIn(thief)).toBe(false);
    expect((await visitor.get(link.pathname + link.search)).statusCode).toBe(410);
    await site.mailTo(email, /password was changed/);
    await signIn(email, NEW_PASSWORD);
    const { rows } = await sql<{ entry: string }>`select entry from audit_entries
      where entry::jsonb ->> 'action' = 'user.password_changed'
        and entry::jsonb #>> '{subject,id}' = ${id}`.execute(site.ctx.db);
    expect(rows.map(({ entry }) => JSON.parse(entry))).toMatchObject([
      { actor: { object: 'user', id }, request_id: expect.any(String) },
    ]);
  });
});

describe('while all sessions of a user end', () => {
  test('a change of the password leaves no session behind, and changes nothing', async () => {
    const { id, email } = await newUser();
    const visitor = await signIn(email);
    await visitor.get('/account/password');
    const reply = await whileSessionsEnd(id, () =>
      visitor.post('/account/password', { password: NEW_PASSWORD }),
    );
    expect(reply.headers.location).toBe('/sign-in');
    expect(await sessionsOf(id)).toEqual([]);
    const user = await site.ctx.db
      .selectFrom('users')
      .select('password_hash')
      .where('id', '=', id)
      .executeTakeFirst();
    expect(user).toEqual({ password_hash: null });
  });

  test('a sign-in with the old password fails', async () => {
    const { id, email } = await newUser();
    await signIn(email);
    const visitor = newVisitor(site.app);
    await visitor.get('/sign-in');
    const reply = await whileSessionsEnd(id, () => visitor.post('/sign-in', { email, password: PASSWORD }));
    expect(reply.statusCode).toBe(422);
    expect(await sessionsOf(id)).toEqual([]);
  });

  test('a sign-in that waits for a code ends, too', async () => {
    const { id, email } = await newUser();
    const { secret } = await enroll(await signIn(email));
    const visitor = await enterPassword(email);
    const reply = await whileSessionsEnd(id, () =>
      visitor.post('/sign-in/code', { code: codeOf(secret, 1) }),
    );
    expect(reply.headers.location).toBe('/sign-in');
    expect(await sessionsOf(id)).toEqual([]);
  });

  test('nobody turns two-step sign-in on or off, removes a passkey, or asks for another address', async () => {
    const { id, email } = await newUser();
    const visitor = await signIn(email);
    const setup = await visitor.get('/account/second-factor');
    const secret = (/class="secret">([A-Z2-7 ]+)</.exec(setup.body)?.[1] ?? '').replaceAll(' ', '');
    const added = await whileSessionsEnd(id, () =>
      visitor.post('/account/second-factor', { code: codeOf(secret) }),
    );
    expect(added.headers.location).toBe('/sign-in');
    const { rows } = await sql`select confirmed_at from totp_secrets where user_id = ${id}`.execute(
      site.ctx.db,
    );
    expect(rows).toEqual([{ confirmed_at: null }]);

    const protectedUser = await newUser();
    const owner = await signIn(protectedUser.email);
    await enroll(owner);
    await owner.get('/account');
    const removed = await whileSessionsEnd(protectedUser.id, () =>
      owner.post('/account/second-factor/remove'),
    );
    expect(removed.headers.location).toBe('/sign-in');
    expect((await readSecondFactor(site.ctx, protectedUser.id)).isOn).toBe(true);

    const keyOwner = await newUser();
    const passkeyId = newId(site.ctx.clock, site.ctx.random);
    await insertPasskey(site.ctx.db, {
      ...{ id: passkeyId, user_id: keyOwner.id, name: 'Key', transports: [], sign_count: 0 },
      ...{ credential_id: site.ctx.random(16), public_key: site.ctx.random(16) },
    });
    const holder = await signIn(keyOwner.email);
    const removal = await whileSessionsEnd(keyOwner.id, () =>
      holder.post('/account/passkeys/remove', { id: passkeyId }),
    );
    expect(removal.headers.location).toBe('/sign-in');
    expect(await listPasskeys(site.ctx.db, keyOwner.id)).toHaveLength(1);

    const mover = await newUser();
    const moving = await signIn(mover.email);
    await moving.get('/account/email');
    const moved = await whileSessionsEnd(mover.id, () =>
      moving.post('/account/email', { email: newEmail() }),
    );
    expect(moved.headers.location).toBe('/sign-in');
    const links = await sql`select from mail_links where user_id = ${mover.id}`.execute(site.ctx.db);
    expect(links.rows).toEqual([]);
  });
});

test('concurrent changes of one account do not deadlock', async () => {
  for (let round = 0; round < 3; round++) {
    const { email } = await newUser();
    const visitors = await Promise.all(Array.from({ length: 4 }, () => signIn(email)));
    const [owner, second, third, fourth] = visitors as [Visitor, Visitor, Visitor, Visitor];
    await owner.get('/forgot');
    await owner.post('/forgot', { email });
    const link = new URL(linkIn(await site.mailTo(email, /Set a new password/)));
    const token = String(link.searchParams.get('token'));
    const stranger = newVisitor(site.app);
    await stranger.get(link.pathname + link.search);
    const late = newVisitor(site.app);
    await late.get('/sign-in');
    const replies = await Promise.all([
      owner.post('/account/password', { password: NEW_PASSWORD }),
      second.post('/account/email', { email: newEmail() }),
      third.post('/account/sessions/end-all'),
      fourth.post('/account/delete', { confirm: 'yes' }),
      stranger.post('/reset', { token, password: NEW_PASSWORD }),
      late.post('/sign-in', { email, password: PASSWORD }),
      owner.post('/forgot', { email }),
    ]);
    for (const { statusCode } of replies) expect(statusCode).toBeLessThan(500);
  }
});

describe('changing the email address', () => {
  const request = async (visitor: Visitor, email: string) => {
    await visitor.get('/account/email');
    return visitor.post('/account/email', { email });
  };

  /** The user requests an email change, and a stranger requests a password reset for the same account. */
  const requestChangeAndReset = async () => {
    const { email } = await newUser();
    const visitor = await signIn(email);
    const fresh = newEmail();
    await request(visitor, fresh);
    const link = new URL(linkIn(await site.mailTo(fresh, /Confirm your new/)));
    const stranger = newVisitor(site.app);
    await stranger.get('/forgot');
    await stranger.post('/forgot', { email });
    const reset = new URL(linkIn(await site.mailTo(email, /Set a new password/)));
    return { email, visitor, fresh, link, stranger, reset };
  };

  test('takes the new mailbox and the signed-in user, and tells the old address', async () => {
    const { email } = await newUser();
    const visitor = await signIn(email);
    const fresh = newEmail();
    const reply = await request(visitor, fresh);
    expect(reply.body).toContain('Check your email');
    await site.mailTo(email, /about to change/);
    const link = new URL(linkIn(await site.mailTo(fresh, /Confirm your new/)));
    const token = String(link.searchParams.get('token'));
    const stranger = await signIn((await newUser()).email);
    expect((await stranger.get(link.pathname + link.search)).statusCode).toBe(410);
    expect((await stranger.post('/account/email/confirm', { token })).statusCode).toBe(410);
    const anonymous = newVisitor(site.app);
    expect((await anonymous.get(link.pathname + link.search)).body).toContain('Sign in first');
    expect((await anonymous.get(`/reset?token=${token}`)).statusCode).toBe(410);
    await visitor.get(link.pathname + link.search);
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => visitor.post('/account/email/confirm', { token })),
    );
    expect(replies.filter(({ statusCode }) => statusCode === 303)).toHaveLength(1);
    await site.mailTo(email, /address was changed/);
    await signIn(fresh);
    await expectAudited(site.ctx, 'user.email_changed');
  });

  test('an address that has an account looks like any other, and cannot be taken', async () => {
    const [{ email }, other] = [await newUser(), await newUser()];
    const visitor = await signIn(email);
    const [taken, free] = [await request(visitor, other.email), await request(visitor, newEmail())];
    const normalize = (body: string) =>
      body.replace(/user-\d+@/g, '@').replace(/name="csrf" value="[^"]+"/g, '');
    expect([taken.statusCode, normalize(taken.body)]).toEqual([free.statusCode, normalize(free.body)]);
    await site.mailTo(other.email, /already has an account/);
  });

  test('an address that somebody else registers before the confirmation stays theirs', async () => {
    const { email } = await newUser();
    const visitor = await signIn(email);
    const contested = newEmail();
    await request(visitor, contested);
    const link = new URL(linkIn(await site.mailTo(contested, /Confirm your new/)));
    await site.makeUser(contested.toUpperCase());
    await visitor.get(link.pathname + link.search);
    const reply = await visitor.post('/account/email/confirm', {
      token: String(link.searchParams.get('token')),
    });
    expect(reply.statusCode).toBe(410);
    await signIn(email);
  });

  test('one of several users who confirm the same address at once gets it', async () => {
    const { ctx } = site;
    const contested = newEmail();
    const requests = [];
    for (const address of [contested, contested.toUpperCase(), contested, contested.toUpperCase()]) {
      const user = await newUser();
      requests.push({ ...user, secret: await createChangeEmailLink(ctx, ctx.db, user.id, address) });
    }
    const confirmed = await Promise.all(
      requests.map(({ id, email, secret }) =>
        confirmEmailChange(ctx, { id, email, kind: 'person', locale: null }, secret),
      ),
    );
    expect(confirmed.filter(Boolean)).toHaveLength(1);
  });

  test('a password reset that anyone can ask for does not void the link', async () => {
    const { email, visitor, link, stranger, reset } = await requestChangeAndReset();
    expect((await visitor.get(link.pathname + link.search)).statusCode).toBe(200);
    await stranger.get(reset.pathname + reset.search);
    const token = String(reset.searchParams.get('token'));
    await stranger.post('/reset', { token, password: NEW_PASSWORD });
    await signIn(email, NEW_PASSWORD, visitor);
    expect((await visitor.get(link.pathname + link.search)).statusCode).toBe(410);
  });

  test('voids a password reset that was sent to the old address', async () => {
    const { visitor, fresh, link, stranger, reset } = await requestChangeAndReset();
    await visitor.get(link.pathname + link.search);
    await visitor.post('/account/email/confirm', { token: String(link.searchParams.get('token')) });
    await signIn(fresh);
    expect((await stranger.get(reset.pathname + reset.search)).statusCode).toBe(410);
    const token = String(reset.searchParams.get('token'));
    expect((await stranger.post('/reset', { token, password: NEW_PASSWORD })).statusCode).toBe(410);
    await signIn(fresh);
  });

  test('is stopped by "Sign out everywhere"', async () => {
    const { email } = await newUser();
    const visitor = await signIn(email);
    const fresh = newEmail();
    await request(visitor, fresh);
    const link = new URL(linkIn(await site.mailTo(fresh, /Confirm your new/)));
    await visitor.get('/account');
    await visitor.post('/account/sessions/end-all', {});
    await signIn(email, PASSWORD, visitor);
    expect((await visitor.get(link.pathname + link.search)).statusCode).toBe(410);
  });

  test.each(['nobody', 'a@user.test,b@user.test', ''])('%j is rejected', async (address) => {
    const visitor = await signIn((await newUser()).email);
    expect((await request(visitor, address)).statusCode).toBe(422);
  });
});

describe('two-step sign-in', () => {
  test('a password is no longer enough, and no code works twice', async () => {
    const { email } = await newUser();
    const { secret, used } = await enroll(await signIn(email));
    const mail = await site.mailTo(email, /Two-step sign-in is on/);
    expect([linkIn(mail), mail.text.includes('contact support')]).toEqual([`${site.url}/forgot`, true]);
    const replay = await enterPassword(email);
    expect((await replay.post('/sign-in/code', { code: used })).statusCode).toBe(422);
    const visitor = await enterPassword(email);
    const next = codeOf(secret, 1);
    const replies = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const racer = await enterPassword(email);
        return racer.post('/sign-in/code', { code: next });
      }),
    );
    expect(replies.filter(({ statusCode }) => statusCode === 303)).toHaveLength(1);
    expect((await visitor.post('/sign-in/code', { code: next })).statusCode).toBe(422);
    await expectAudited(site.ctx, 'user.second_factor_added');
  });

  test('a recovery code works once, in any spelling, and is stored as a hash', async () => {
    const { id, email } = await newUser();
    const { secret, recoveryCodes } = await enroll(await signIn(email));
    const [code = ''] = recoveryCodes;
    const visitor = await enterPassword(email);
    const reply = await visitor.post('/sign-in/code', {
      code: ` ${code.toLowerCase().replaceAll('-', ' ')} `,
    });
    expect(reply.headers.location).toBe('/account');
    expect((await visitor.get('/account')).body).toContain('9 recovery codes left');
    const again = await enterPassword(email);
    expect((await again.post('/sign-in/code', { code })).statusCode).toBe(422);
    const { rows } =
      await sql`select t::text, r::text from totp_secrets t left join recovery_codes r using (user_id)
      where t.user_id = ${id}`.execute(site.ctx.db);
    const dump = JSON.stringify(rows);
    for (const text of [code, code.replaceAll('-', ''), secret, decode(secret).toString('hex')])
      expect(dump).not.toContain(text);
    await expectAudited(site.ctx, 'user.recovery_code_used');
  });

  test('codes cannot be guessed: five per sign-in, ten per hour, and the password resets nothing', async () => {
    const { email } = await newUser();
    const { secret, recoveryCodes } = await enroll(await signIn(email));
    const guess = async (visitor: Visitor) =>
      (await visitor.post('/sign-in/code', { code: '000000' })).statusCode;
    const first = await enterPassword(email);
    for (let i = 0; i < 5; i++) expect(await guess(first)).toBe(422);
    const gone = await first.post('/sign-in/code', { code: codeOf(secret, 1) });
    expect(gone.headers.location).toBe('/sign-in');
    const second = await enterPassword(email);
    for (let i = 0; i < 5; i++) expect(await guess(second)).toBe(422);
    const third = await enterPassword(email);
    expect(await guess(third)).toBe(429);
    expect((await third.post('/sign-in/code', { code: String(recoveryCodes[0]) })).statusCode).toBe(429);
  });

  test('a code without a password signs nobody in, and an expired sign-in starts again', async () => {
    const { id, email } = await newUser();
    const { secret } = await enroll(await signIn(email));
    const stranger = newVisitor(site.app);
    await stranger.get('/sign-in');
    const reply = await stranger.post('/sign-in/code', { code: codeOf(secret, 1) });
    expect(reply.headers.location).toBe('/sign-in');
    const visitor = await enterPassword(email);
    await sql`update pending_sign_ins set expires_at = now() where user_id = ${id}`.execute(site.ctx.db);
    const late = await visitor.post('/sign-in/code', { code: codeOf(secret, 1) });
    expect([late.headers.location, await isSignedIn(visitor)]).toEqual(['/sign-in', false]);
  });

  test('a new password ends sign-ins that wait for a code', async () => {
    const { email } = await newUser();
    const owner = await signIn(email);
    const { secret } = await enroll(owner);
    const waiting = await enterPassword(email);
    await owner.get('/account/password');
    await owner.post('/account/password', { password: NEW_PASSWORD });
    const reply = await waiting.post('/sign-in/code', { code: codeOf(secret, 1) });
    expect(reply.headers.location).toBe('/sign-in');
  });

  test('opening the setup page creates a new secret, and only the newest can be confirmed', async () => {
    const visitor = await signIn((await newUser()).email);
    const secretOf = (body: string) =>
      (/class="secret">([A-Z2-7 ]+)</.exec(body)?.[1] ?? '').replaceAll(' ', '');
    const old = secretOf((await visitor.get('/account/second-factor')).body);
    const current = secretOf((await visitor.get('/account/second-factor')).body);
    expect(current).not.toBe(old);
    const wrong = await visitor.post('/account/second-factor', { code: codeOf(old) });
    expect([wrong.statusCode, secretOf(wrong.body)]).toEqual([422, current]);
    expect((await visitor.post('/account/second-factor', { code: codeOf(current) })).statusCode).toBe(200);
    expect((await visitor.get('/account/second-factor')).headers.location).toBe('/account');
  });

  test('can be turned off, with a mail', async () => {
    const { email } = await newUser();
    const visitor = await signIn(email);
    await enroll(visitor);
    await visitor.get('/account');
    await visitor.post('/account/second-factor/remove');
    await site.mailTo(email, /Two-step sign-in is off/);
    await signIn(email);
    await expectAudited(site.ctx, 'user.second_factor_removed');
  });

  test('secrets are resealed when the secret of the service is rotated', async () => {
    const { id, email } = await newUser();
    await enroll(await signIn(email));
    const { ctx } = site;
    const newer = ctx.random(32);
    const sealing = createSealing([newer, TEST_SECRET], ctx.random);
    const read = async () =>
      (
        await sql<{
          sealed: Buffer;
        }>`select sealed_secret as sealed from totp_secrets where user_id = ${id}`.execute(ctx.db)
      ).rows[0]?.sealed ?? Buffer.alloc(0);
    const plain = ctx.sealing.open('totp secret', await read(), id);
    expect(await resealTotpSecrets({ db: ctx.db, sealing })).toBeGreaterThan(0);
    expect(sealing.open('totp secret', await read(), id)).toEqual(plain);
    expect((await read()).subarray(0, 4)).toEqual(sealing.newestKeyId);
    const back = createSealing([TEST_SECRET, newer], ctx.random);
    expect(await resealTotpSecrets({ db: ctx.db, sealing: back })).toBeGreaterThan(0);
  });
});

describe('acr_values', () => {
  const MFA = 'https://refeds.org/profile/mfa';

  /**
   * Signs in to an app with a browser that is already signed in to the service, and gives consent if asked. If the
   * service shows any other page, returns that page. Otherwise, returns the claims of the ID token, or the error in the
   * callback.
   */
  async function authorize(visitor: Visitor, parameters: Record<string, string>) {
    const { url, verifier } = site.authorizeUrl(parameters);
    const follow = async (path: string): Promise<{ page: string } | { callback: URL }> => {
      const reply = await visitor.get(path);
      const location = reply.headers.location as string | undefined;
      if (location === undefined) {
        const decide = /class="decision" method="post" action="([^"]+)"/.exec(reply.body)?.[1];
        if (decide === undefined) return { page: reply.body };
        const decided = await visitor.post(decide, { decision: 'allow' });
        return follow(toPath(String(decided.headers.location)));
      }
      if (location.startsWith(site.partner.redirectUri)) return { callback: new URL(location) };
      return follow(toPath(location));
    };
    const toPath = (location: string) => location.replace(site.url, '');
    const result = await follow(toPath(url));
    if ('page' in result) return { page: result.page, claims: null, error: null };
    const { clientId, secret, redirectUri } = site.partner;
    const reply = await fetch(`${site.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...{ grant_type: 'authorization_code', code: result.callback.searchParams.get('code') ?? '' },
        ...{ code_verifier: verifier, redirect_uri: redirectUri, client_id: clientId, client_secret: secret },
      }),
    });
    const { id_token = '' } = (await reply.json()) as { id_token?: string };
    const [, payload = ''] = id_token.split('.');
    const claims = payload === '' ? null : JSON.parse(Buffer.from(payload, 'base64url').toString());
    return { page: null, claims, error: result.callback.searchParams.get('error') };
  }

  test.each(['phr', MFA, 'urn:unknown', `urn:unknown phr ${MFA}`, ' '])(
    'a user with a password alone signs in whatever is asked: %j',
    async (acr_values) => {
      const visitor = await signIn((await newUser()).email);
      const { claims } = await authorize(visitor, { acr_values });
      expect(claims).toMatchObject({ amr: ['pwd'] });
      expect(claims).not.toHaveProperty('acr');
    },
  );

  test('after a code, the ID token reports two factors', async () => {
    const { email } = await newUser();
    const { recoveryCodes } = await enroll(await signIn(email));
    const visitor = await enterPassword(email);
    await visitor.post('/sign-in/code', { code: String(recoveryCodes[0]) });
    for (const acr_values of [MFA, `phr ${MFA}`, 'phr', 'urn:unknown']) {
      const { claims } = await authorize(visitor, { acr_values });
      expect(claims).toMatchObject({ acr: MFA, amr: ['pwd', 'otp', 'mfa'] });
    }
  });

  test('a user who has a second factor must use it, also in a browser that signed in before', async () => {
    const { email } = await newUser();
    const visitor = await signIn(email);
    expect((await authorize(visitor, {})).claims).toMatchObject({ amr: ['pwd'] });
    await enroll(visitor);
    const { page } = await authorize(visitor, { acr_values: MFA });
    expect(page).toContain('asks for more security');
    expect((await authorize(visitor, { acr_values: MFA, prompt: 'none' })).error).toBe('login_required');
    expect((await authorize(visitor, { acr_values: 'urn:unknown' })).claims).toMatchObject({ amr: ['pwd'] });
  });

  test.each([
    ['ahead', -7_200_000],
    ['behind', 7_200_000],
  ])('a fresh sign-in is asked for in the same way with a database clock two hours %s', async (_, offset) => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + offset });
    try {
      const visitor = await signIn((await newUser()).email);
      for (const parameters of [{}, { max_age: '60' }])
        expect((await authorize(visitor, parameters)).claims).toMatchObject({ amr: ['pwd'] });
      vi.setSystemTime(Date.now() + 1000);
      expect((await authorize(visitor, { prompt: 'login' })).page).toContain('name="password"');
    } finally {
      vi.useRealTimers();
    }
  });

  test('an earlier sign-in with two factors does not vouch for a later one without', async () => {
    const { email } = await newUser();
    const { recoveryCodes } = await enroll(await signIn(email));
    const visitor = await enterPassword(email);
    await visitor.post('/sign-in/code', { code: String(recoveryCodes[0]) });
    expect((await authorize(visitor, { acr_values: MFA })).claims).toMatchObject({ acr: MFA });
    await visitor.get('/account');
    await visitor.post('/account/second-factor/remove');
    await visitor.get('/account');
    await visitor.post('/sign-out');
    await signIn(email, PASSWORD, visitor);
    const { claims } = await authorize(visitor, { acr_values: MFA });
    expect(claims).toMatchObject({ amr: ['pwd'] });
    expect(claims).not.toHaveProperty('acr');
  });

  test('the discovery document lists the values', async () => {
    const reply = await site.app.inject({ url: '/.well-known/openid-configuration' });
    expect(reply.json().acr_values_supported).toEqual(['phr', MFA]);
  });
});

const walletOf = (digit: string) => `0x${digit.repeat(40)}`;

/** Inserts an order that is in this state and expires in an hour. */
async function insertOrder(userId: string, wallet: string, state: 'live' | 'executed'): Promise<void> {
  const { ctx } = site;
  const offer = await makeOffer(ctx, tokenizedFile());
  await sql`insert into tokenized_orders (id, partner_id, user_id, offer_id, symbol, chain, wallet, swap, asset, token,
      amount, fee, state, holding, expires_at, attestation, inserted_at, updated_at)
    values (gen_random_uuid(), ${partnerOf('partner-one')}, ${userId}, ${offer.id}, 'HBRon', 'ethereum_sepolia',
      ${wallet}, ${ADDRESS.swap}, ${ADDRESS.asset}, ${ADDRESS.usdc}, 1000000, 0, ${state}, false,
      ${new Date(ctx.clock.now() + 3_600_000).toISOString()}, ${{ side: 0, quantity: '7' }}, now(), now())`.execute(
    ctx.db,
  );
}

async function insertParticipation(userId: string, status: string, hash: number): Promise<void> {
  const offer = await makeOffer(site.ctx);
  const [option] = offer.options;
  await sql`insert into participations (id, partner_id, user_id, offer_id, offer_option_id, status, amount, asset_id,
      asset_code, asset_name, asset_digits, chain, wallet_address, fund_address, token_address, approval_hash,
      prepared_at, inserted_at, updated_at, reason)
    values (gen_random_uuid(), ${partnerOf('partner-one')}, ${userId}, ${offer.id}, ${option?.id}, ${status}, 1000000,
      'usd-coin', 'USDC', 'USD Coin', 6, 'ethereum_sepolia', ${ADDRESS.asset}, ${ADDRESS.fund}, ${ADDRESS.usdc},
      ${Buffer.alloc(32, hash)}, now(), now(), now(), 'internal: reason')`.execute(site.ctx.db);
}

/** Gives the user one row of every kind that an export contains. */
async function giveRows(userId: string, name: string, digit: string): Promise<void> {
  const { ctx } = site;
  await site.tokenFor({ userId });
  await putFacts(ctx, {
    userId,
    reviews: { BasicKYCLevel: 'pending', AccreditationIndividual_FullVerification: null },
  });
  await sql`insert into identity_reviews (user_id, level_name, review_status, as_of)
    values (${userId}, 'AccreditationIndividual_FullVerification', 'init', now())`.execute(ctx.db);
  const data = { ...NO_DATA, full_legal_name: name };
  await ctx.db
    .updateTable('pii')
    .set(sealPii(ctx.sealing, userId, data, factsOf(data, 'person', PERSON_KEY)))
    .where('user_id', '=', userId)
    .execute();
  await proveWallets(ctx, [walletOf(digit)], { userId });
  await insertParticipation(userId, 'failed', Number(digit) + 100);
  await insertOrder(userId, walletOf(digit), 'executed');
  await insertPasskey(ctx.db, {
    ...{ id: newId(ctx.clock, ctx.random), user_id: userId, name: `Key of ${name}`, transports: [] },
    ...{ credential_id: ctx.random(16), public_key: ctx.random(16), sign_count: 0 },
  });
  await sql`insert into notice_opt_outs (user_id, topic) values (${userId}, 'verification')`.execute(ctx.db);
}

const checksIn = ({ identity_checks }: { identity_checks: { level: string; status: string }[] }) =>
  Object.fromEntries(identity_checks.map(({ level, status }) => [level, status]));

describe('the data export', () => {
  test('has the data of its user, nobody else’s, no secrets and no internal decisions', async () => {
    const { id, email } = await newUser();
    const other = await newUser();
    const visitor = await signIn(email);
    const { secret } = await enroll(visitor);
    await visitor.get('/account');
    await giveRows(id, 'Ada Lovelace', '1');
    await giveRows(other.id, 'Grace Hopper', '2');
    await sql`insert into user_holds (id, user_id, reason, held_at, released_at, release_reason)
      values (gen_random_uuid(), ${id}, 'suspicious transfers', now(), now(), 'cleared by compliance')`.execute(
      site.ctx.db,
    );
    const reply = await visitor.post('/account/export');
    expect(reply.headers['content-type']).toContain('application/json');
    expect(reply.headers['content-disposition']).toBe('attachment; filename="causeway-data.json"');
    expect(reply.headers['cache-control']).toBe('no-store');
    expect(reply.json()).toMatchObject({
      object: 'data_export',
      account: {
        ...{ id, email, kind: 'person', language: 'en', two_step_sign_in: true },
        passkeys: [{ name: 'Key of Ada Lovelace' }],
        sessions: [{ network: '127.0.0.x', method: 'password' }],
      },
      personal_data: { full_legal_name: 'Ada Lovelace' },
      tax_forms: [{ document_type: 'tax_certification', form_type: 'w8_ben', status: 'COMPLETED' }],
      wallets: [{ partner: 'Partner partner-one', protocol: 'ethereum', address: walletOf('1') }],
      participations: [{ object: 'participation', status: 'failed', amount: '1000000' }],
      tokenized_swap_orders: [
        { object: 'tokenized_swap_order', symbol: 'HBRon', side: 'buy', receive_output_amount: '7' },
      ],
      connected_apps: [{ name: 'Partner partner-one', scopes: expect.arrayContaining(['offers:read']) }],
      email_topics: ['acceptance', 'forms', 'reminders'],
    });
    expect(checksIn(reply.json())).toEqual({
      Sorting_KYC_Level: 'approved',
      BasicKYCLevel: 'in_review',
      AccreditationIndividual_FullVerification: 'not_submitted',
    });
    await sql`update identity_reviews set review_status = 'completed', answer = 'RED', reject_type = 'FINAL', reviewed_at = now()
      where user_id = ${id} and level_name = 'BasicKYCLevel'`.execute(site.ctx.db);
    const rejected = await visitor.post('/account/export');
    expect(checksIn(rejected.json())).toMatchObject({ BasicKYCLevel: 'not_approved' });
    expect(rejected.body).not.toMatch(/RED|FINAL/);
    for (const hidden of [
      other.email,
      other.id,
      'Grace Hopper',
      walletOf('2'),
      'internal',
      'suspicious',
      'compliance',
      'hold',
      secret,
      'argon2',
      String(visitor.cookie()),
    ])
      expect(reply.body).not.toContain(hidden);
    await expectAudited(site.ctx, 'user.data_exported', 'personal_data.read');
  });
});

describe('deleting the account', () => {
  test('ends the account permanently and sends a mail', async () => {
    const { email } = await newUser();
    const [visitor, other] = [await signIn(email), await signIn(email)];
    await visitor.get('/account/delete');
    expect((await visitor.post('/account/delete')).statusCode).toBe(422);
    const reply = await visitor.post('/account/delete', { confirm: 'yes' });
    expect(reply.body).toContain('Your account is deleted');
    await site.mailTo(email, /account was deleted/);
    expect([await isSignedIn(visitor), await isSignedIn(other)]).toEqual([false, false]);
    await visitor.get('/sign-in');
    expect((await visitor.post('/sign-in', { email, password: PASSWORD })).statusCode).toBe(422);
    await expectAudited(site.ctx, 'user.erased');
  });

  test('waits while money may still move, says so, and happens once it cannot', async () => {
    const { id, email } = await newUser();
    await insertParticipation(id, 'pending', 8);
    const visitor = await signIn(email);
    const data = await visitor.post('/account/export');
    expect(data.json().participations).toMatchObject([
      { object: 'participation', status: 'pending', amount: '1000000' },
    ]);
    expect(data.body).not.toContain('internal');
    expect((await visitor.get('/account/delete')).body).toContain('an investment or a refund in progress');
    for (const status of ['prepared', 'pending']) {
      await sql`update participations set status = ${status} where user_id = ${id}`.execute(site.ctx.db);
      const blocked = await visitor.post('/account/delete', { confirm: 'yes' });
      expect([blocked.statusCode, await isSignedIn(visitor)]).toEqual([409, true]);
    }
    await sql`update participations set status = 'failed' where user_id = ${id}`.execute(site.ctx.db);
    await visitor.get('/account/delete');
    expect((await visitor.post('/account/delete', { confirm: 'yes' })).statusCode).toBe(200);
    expect(await isSignedIn(visitor)).toBe(false);
  });

  test('waits for an open order and for wallets on allow-lists, and says which', async () => {
    const { ctx } = site;
    const { id, email } = await newUser();
    const visitor = await signIn(email);
    await visitor.get('/account/delete');
    const attempt = () => visitor.post('/account/delete', { confirm: 'yes' });
    const offer = await makeOffer(ctx);
    await ctx.db
      .insertInto('allow_verifications')
      .values({
        ...{ id: newId(ctx.clock, ctx.random), offer_id: offer.id, user_id: id, chain: 'ethereum_sepolia' },
        ...{ partner_id: partnerOf('partner-one'), wallet: walletOf('3'), contract: ADDRESS.fund },
        ...{ state: 'allowed', deadline: new Date(0), inserted_at: new Date(0), updated_at: new Date(0) },
      } as never)
      .execute();
    await insertOrder(id, walletOf('3'), 'live');
    const ordered = await attempt();
    expect([ordered.statusCode, ordered.body.includes('You have an open order')]).toEqual([409, true]);
    await sql`update tokenized_orders set state = 'executed' where user_id = ${id}`.execute(ctx.db);
    for (let i = 0; i < 2; i++) {
      const allowed = await attempt();
      expect([allowed.statusCode, allowed.body.includes('on an offer’s allow-list')]).toEqual([409, true]);
    }
    expect(await isSignedIn(visitor)).toBe(true);
    await sql`update allow_verifications set state = 'revoked' where user_id = ${id}`.execute(ctx.db);
    expect((await attempt()).statusCode).toBe(200);
    await site.mailTo(email, /account was deleted/);
  });

  test('is committed together with its mail', async () => {
    const { id, email } = await newUser();
    const visitor = await signIn(email);
    await visitor.get('/account/delete');
    const { db } = site.ctx;
    await sql`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`.execute(
      db,
    );
    await sql`create trigger refuse before insert on mail_outbox execute function refuse()`.execute(db);
    const reply = await visitor.post('/account/delete', { confirm: 'yes' });
    await sql`drop function refuse cascade`.execute(db);
    expect([reply.statusCode, await isSignedIn(visitor)]).toEqual([500, true]);
    const { rows } = await sql`select email from users where id = ${id}`.execute(db);
    expect(rows).toEqual([{ email }]);
  });

  test('a restricted account stays, and the page does not say why', async () => {
    const { id, email } = await newUser();
    const visitor = await signIn(email);
    await visitor.get('/account/delete');
    await holdUser(site.ctx, id, 'suspicious transfers');
    const reply = await visitor.post('/account/delete', { confirm: 'yes' });
    expect([reply.statusCode, reply.body.includes('Contact support')]).toEqual([409, true]);
    expect(reply.body).not.toMatch(/suspicious|on hold/);
    expect(await isSignedIn(visitor)).toBe(true);
  });
});
