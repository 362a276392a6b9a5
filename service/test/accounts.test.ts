import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertUser } from '../src/domain/users/store.ts';
import { expectAudited } from './support/audited.ts';
import { linkIn, PASSWORD, type Site, startSite } from './support/site.ts';
import { newVisitor, type Visitor } from './support/visitor.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite();
});

afterAll(() => site.close());

const pathOf = (link: string) => link.slice(site.url.length);
const tokenOf = (link: string) => new URL(link).searchParams.get('token') ?? '';

async function register(
  email: string,
  visitor: Visitor = newVisitor(site.app),
  kind = 'person',
): Promise<{ visitor: Visitor; link: string }> {
  await visitor.get('/register');
  const reply = await visitor.post('/register', { email, password: PASSWORD, kind });
  expect(reply.statusCode).toBe(200);
  return { visitor, link: linkIn(await site.mailTo(email, /Confirm/)) };
}

async function findUsers(email: string) {
  return site.ctx.db.selectFrom('users').select(['id', 'email', 'kind']).where('email', '=', email).execute();
}

async function signIn(email: string, password = PASSWORD): Promise<Visitor> {
  const visitor = newVisitor(site.app);
  await visitor.get('/sign-in');
  const reply = await visitor.post('/sign-in', { email, password });
  expect(reply.headers.location).toBe('/account');
  return visitor;
}

describe('registration', () => {
  test('the account does not exist until the address is confirmed', async () => {
    const { visitor, link } = await register('pending@user.test', newVisitor(site.app), 'company');
    expect(await findUsers('pending@user.test')).toEqual([]);
    await visitor.get('/sign-in');
    expect(
      (await visitor.post('/sign-in', { email: 'pending@user.test', password: PASSWORD })).statusCode,
    ).toBe(422);
    await visitor.get(pathOf(link));
    const reply = await visitor.post('/confirm', { token: tokenOf(link) });
    expect(reply.headers.location).toBe('/account');
    expect(await findUsers('pending@user.test')).toMatchObject([{ kind: 'company' }]);
  });

  test('addresses that differ in the case of a non-ASCII letter have different accounts', async () => {
    for (const email of ['Ünal@user.test', 'ünal@user.test'])
      expect(
        await insertUser(site.ctx.db, { id: randomUUID(), email, kind: 'person', password_hash: null }),
      ).toBe(true);
  });

  test('a mail scanner that opens the link does not consume it', async () => {
    const { visitor, link } = await register('scanned@user.test');
    const scanner = newVisitor(site.app);
    for (let i = 0; i < 3; i++) expect((await scanner.get(pathOf(link))).statusCode).toBe(200);
    await visitor.get(pathOf(link));
    expect((await visitor.post('/confirm', { token: tokenOf(link) })).statusCode).toBe(303);
  });

  test('another browser has to enter the chosen password, so nobody can confirm for someone else', async () => {
    const { link } = await register('elsewhere@user.test');
    const other = newVisitor(site.app);
    const page = await other.get(pathOf(link));
    expect(page.body).toContain('type="password"');
    expect((await other.post('/confirm', { token: tokenOf(link) })).statusCode).toBe(422);
    expect(
      (await other.post('/confirm', { token: tokenOf(link), password: 'not the password' })).statusCode,
    ).toBe(422);
    expect(await findUsers('elsewhere@user.test')).toEqual([]);
    expect(
      (await other.post('/confirm', { token: tokenOf(link), password: PASSWORD })).headers.location,
    ).toBe('/account');
    expect(await findUsers('elsewhere@user.test')).toHaveLength(1);
  });

  test('one of fifty concurrent confirmations creates the account', async () => {
    const { visitor, link } = await register('race@user.test');
    await visitor.get(pathOf(link));
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => visitor.post('/confirm', { token: tokenOf(link) })),
    );
    expect(replies.filter((reply) => reply.statusCode === 303)).toHaveLength(1);
    expect(replies.filter((reply) => reply.statusCode === 410)).toHaveLength(49);
    expect(await findUsers('race@user.test')).toHaveLength(1);
  });

  test('two registrations of one address in different case create one account', async () => {
    const first = await register('twice@user.test');
    const second = await register('Twice@user.test');
    for (const { visitor, link } of [first, second]) await visitor.get(pathOf(link));
    const replies = await Promise.all(
      [first, second].map(({ visitor, link }) => visitor.post('/confirm', { token: tokenOf(link) })),
    );
    expect(replies.map((reply) => reply.statusCode).sort()).toEqual([303, 410]);
  });

  test('an expired link creates no account', async () => {
    const { visitor, link } = await register('slow@user.test');
    await site.ctx.pool.query(`update mail_links set expires_at = now() - interval '1 second'`);
    expect((await visitor.get(pathOf(link))).statusCode).toBe(410);
    expect((await visitor.post('/confirm', { token: tokenOf(link) })).statusCode).toBe(410);
    expect(await findUsers('slow@user.test')).toEqual([]);
  });

  test.each([
    ['a short password', { password: 'short' }, 'at least 10'],
    ['a long password', { password: 'ab1!'.repeat(33) }, 'at most 128'],
    ['a common password', { password: 'Password1234' }, 'too easy'],
    ['a password that repeats one letter', { password: 'aaaaaaaaaaaa' }, 'too easy'],
    [
      'the address as the password',
      { email: 'same.as.this@user.test', password: 'Same.as.this@user.test' },
      'other than your email',
    ],
    ['an invalid address', { email: 'nobody' }, 'Enter a valid email'],
    ['two recipients', { email: 'a@user.test,b@user.test' }, 'Enter a valid email'],
    ['an unknown kind', { kind: 'trust' }, 'Choose an account type'],
  ])('%s is rejected with a reason', async (_name, fields, reason) => {
    const visitor = newVisitor(site.app);
    await visitor.get('/register');
    const reply = await visitor.post('/register', {
      email: 'fine@user.test',
      password: PASSWORD,
      kind: 'person',
      ...fields,
    });
    expect(reply.statusCode).toBe(422);
    expect(reply.body).toContain(reason);
  });
});

describe('sign-in', () => {
  test('the address matches in any case and with surrounding spaces', async () => {
    await site.makeUser('Mixed.Case@user.test');
    await signIn(' mixed.case@USER.test ');
  });

  test('an outdated password hash is replaced at the next sign-in', async () => {
    const id = await site.makeUser('old@user.test');
    const { hash } = await import('@node-rs/argon2');
    const outdated = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1 });
    await site.ctx.db.updateTable('users').set({ password_hash: outdated }).where('id', '=', id).execute();
    await signIn('old@user.test');
    const { password_hash } = await site.ctx.db
      .selectFrom('users')
      .select('password_hash')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await signIn('old@user.test');
  });

  test('no password signs in a user visitor has only passkeys', async () => {
    const id = await site.makeUser('keysonly@user.test');
    await site.ctx.db.updateTable('users').set({ password_hash: null }).where('id', '=', id).execute();
    const visitor = newVisitor(site.app);
    await visitor.get('/sign-in');
    for (const password of [PASSWORD, '', 'null']) {
      expect((await visitor.post('/sign-in', { email: 'keysonly@user.test', password })).statusCode).toBe(
        422,
      );
    }
  });

  test('signing out ends the session on the server', async () => {
    await site.makeUser('out@user.test');
    const visitor = await signIn('out@user.test');
    const cookie = String(visitor.cookie());
    await visitor.get('/account');
    await visitor.post('/sign-out');
    const thief = newVisitor(site.app);
    thief.setCookie(cookie);
    expect((await thief.get('/account')).headers.location).toBe('/sign-in');
  });

  test('a session expires', async () => {
    await site.makeUser('idle@user.test');
    const visitor = await signIn('idle@user.test');
    await site.ctx.pool.query(`update browser_sessions set expires_at = now() - interval '1 second'`);
    expect((await visitor.get('/account')).headers.location).toBe('/sign-in');
  });

  test('the database stores no cookie, link or password in the clear', async () => {
    await site.makeUser('leak@user.test');
    const visitor = await signIn('leak@user.test');
    const { link } = await register('leak2@user.test');
    const dump = JSON.stringify(
      await Promise.all(
        (
          [
            'users',
            'browser_sessions',
            'mail_links',
            'mail_outbox',
            'passkey_challenges',
            'sign_in_failures',
          ] as const
        ).map(async (table) => (await site.ctx.pool.query(`select t::text from ${table} t`)).rows),
      ),
    );
    for (const secret of [String(visitor.cookie()), tokenOf(link), PASSWORD, 'leak2@user.test'])
      expect(dump).not.toContain(secret);
    expect(dump).toContain('leak@user.test');
  });
});

describe('password reset', () => {
  test('the link works once and ends all sessions and grants', async () => {
    const id = await site.makeUser('reset@user.test');
    const visitor = await signIn('reset@user.test');
    const token = await site.tokenFor({ userId: id });
    const requester = newVisitor(site.app);
    await requester.get('/forgot');
    await requester.post('/forgot', { email: 'RESET@user.test' });
    const link = linkIn(await site.mailTo('reset@user.test', /Set a new/));
    await requester.get(pathOf(link));
    expect((await requester.post('/reset', { token: tokenOf(link), password: 'short' })).statusCode).toBe(
      422,
    );
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        requester.post('/reset', { token: tokenOf(link), password: `a new harbour ${i}` }),
      ),
    );
    expect(replies.filter((reply) => reply.statusCode === 303)).toHaveLength(1);
    const winner = replies.findIndex((reply) => reply.statusCode === 303);
    expect((await visitor.get('/account')).headers.location).toBe('/sign-in');
    expect(await site.ctx.oauth.listGrants(id)).toEqual([]);
    await expect.poll(async () => await site.ctx.guard.check(token)).toBeNull();
    await signIn('reset@user.test', `a new harbour ${winner}`);
    await site.mailTo('reset@user.test', /was changed/);
    await expectAudited(site.ctx, 'user.password_changed');
  });

  test('a newer link replaces the older one', async () => {
    await site.makeUser('twolinks@user.test');
    const requester = newVisitor(site.app);
    await requester.get('/forgot');
    await requester.post('/forgot', { email: 'twolinks@user.test' });
    const first = linkIn(await site.mailTo('twolinks@user.test', /Set a new/));
    await requester.post('/forgot', { email: 'twolinks@user.test' });
    expect((await requester.get(pathOf(first))).statusCode).toBe(410);
  });
});
