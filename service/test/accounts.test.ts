import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { linkIn, PASSWORD, type Site, startSite } from './support/site.ts';
import { type Visitor, visitor } from './support/visitor.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite();
});

afterAll(() => site.close());

const pathOf = (link: string) => link.slice(site.url.length);
const tokenOf = (link: string) => new URL(link).searchParams.get('token') ?? '';

async function registered(
  email: string,
  who: Visitor = visitor(site.app),
  kind = 'person',
): Promise<{ who: Visitor; link: string }> {
  await who.get('/register');
  const reply = await who.post('/register', { email, password: PASSWORD, kind });
  expect(reply.statusCode).toBe(200);
  return { who, link: linkIn(await site.mailTo(email, /Confirm/)) };
}

async function usersWith(email: string) {
  return site.ctx.db.selectFrom('users').select(['id', 'email', 'kind']).where('email', '=', email).execute();
}

async function signedIn(email: string, password = PASSWORD): Promise<Visitor> {
  const who = visitor(site.app);
  await who.get('/sign-in');
  const reply = await who.post('/sign-in', { email, password });
  expect(reply.headers.location).toBe('/account');
  return who;
}

describe('registration', () => {
  test('there is no account before the address is confirmed', async () => {
    const { who, link } = await registered('pending@user.test', visitor(site.app), 'company');
    expect(await usersWith('pending@user.test')).toEqual([]);
    await who.get('/sign-in');
    expect((await who.post('/sign-in', { email: 'pending@user.test', password: PASSWORD })).statusCode).toBe(
      422,
    );
    await who.get(pathOf(link));
    const reply = await who.post('/confirm', { token: tokenOf(link) });
    expect(reply.headers.location).toBe('/account');
    expect(await usersWith('pending@user.test')).toMatchObject([{ kind: 'company' }]);
  });

  test('a program that opens the link of a mail does not use it up', async () => {
    const { who, link } = await registered('scanned@user.test');
    const scanner = visitor(site.app);
    for (let i = 0; i < 3; i++) expect((await scanner.get(pathOf(link))).statusCode).toBe(200);
    await who.get(pathOf(link));
    expect((await who.post('/confirm', { token: tokenOf(link) })).statusCode).toBe(303);
  });

  test('another browser needs the password that was chosen, so that nobody confirms for somebody else', async () => {
    const { link } = await registered('elsewhere@user.test');
    const other = visitor(site.app);
    const page = await other.get(pathOf(link));
    expect(page.body).toContain('type="password"');
    expect((await other.post('/confirm', { token: tokenOf(link) })).statusCode).toBe(422);
    expect(
      (await other.post('/confirm', { token: tokenOf(link), password: 'not the password' })).statusCode,
    ).toBe(422);
    expect(await usersWith('elsewhere@user.test')).toEqual([]);
    expect(
      (await other.post('/confirm', { token: tokenOf(link), password: PASSWORD })).headers.location,
    ).toBe('/account');
    expect(await usersWith('elsewhere@user.test')).toHaveLength(1);
  });

  test('of fifty confirmations of one link one makes the account', async () => {
    const { who, link } = await registered('race@user.test');
    await who.get(pathOf(link));
    const replies = await Promise.all(
      Array.from({ length: 50 }, () => who.post('/confirm', { token: tokenOf(link) })),
    );
    expect(replies.filter((reply) => reply.statusCode === 303)).toHaveLength(1);
    expect(replies.filter((reply) => reply.statusCode === 410)).toHaveLength(49);
    expect(await usersWith('race@user.test')).toHaveLength(1);
  });

  test('of two registrations with one address, in whatever case, one becomes the account', async () => {
    const first = await registered('twice@user.test');
    const second = await registered('Twice@user.test');
    for (const { who, link } of [first, second]) await who.get(pathOf(link));
    const replies = await Promise.all(
      [first, second].map(({ who, link }) => who.post('/confirm', { token: tokenOf(link) })),
    );
    expect(replies.map((reply) => reply.statusCode).sort()).toEqual([303, 410]);
  });

  test('an expired link makes no account', async () => {
    const { who, link } = await registered('slow@user.test');
    await site.ctx.pool.query(`update mail_links set expires_at = now() - interval '1 second'`);
    expect((await who.get(pathOf(link))).statusCode).toBe(410);
    expect((await who.post('/confirm', { token: tokenOf(link) })).statusCode).toBe(410);
    expect(await usersWith('slow@user.test')).toEqual([]);
  });

  test.each([
    ['a short password', { password: 'short' }, 'at least 10'],
    ['a long password', { password: 'ab1!'.repeat(33) }, 'at most 128'],
    ['a common password', { password: 'Password1234' }, 'too easy'],
    ['a password of one letter', { password: 'aaaaaaaaaaaa' }, 'too easy'],
    [
      'the address as the password',
      { email: 'same.as.this@user.test', password: 'Same.as.this@user.test' },
      'other than your e-mail',
    ],
    ['no address', { email: 'nobody' }, 'Enter an e-mail'],
    ['two recipients', { email: 'a@user.test,b@user.test' }, 'Enter an e-mail'],
    ['an unknown kind', { kind: 'trust' }, 'Choose one'],
  ])('%s is refused with its reason', async (_name, fields, reason) => {
    const who = visitor(site.app);
    await who.get('/register');
    const reply = await who.post('/register', {
      email: 'fine@user.test',
      password: PASSWORD,
      kind: 'person',
      ...fields,
    });
    expect(reply.statusCode).toBe(422);
    expect(reply.body).toContain(reason);
  });
});

describe('signing in', () => {
  test('the address is taken in any case and with spaces around it', async () => {
    await site.makeUser('Mixed.Case@user.test');
    await signedIn(' mixed.case@USER.test ');
  });

  test('an outdated hash is made anew at the next sign-in', async () => {
    const id = await site.makeUser('old@user.test');
    const { hash } = await import('@node-rs/argon2');
    const old = await hash(PASSWORD, { memoryCost: 8192, timeCost: 1 });
    await site.ctx.db.updateTable('users').set({ password_hash: old }).where('id', '=', id).execute();
    await signedIn('old@user.test');
    const { password_hash } = await site.ctx.db
      .selectFrom('users')
      .select('password_hash')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    expect(password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    await signedIn('old@user.test');
  });

  test('a user with passkeys only cannot be signed in with any password', async () => {
    const id = await site.makeUser('keysonly@user.test');
    await site.ctx.db.updateTable('users').set({ password_hash: null }).where('id', '=', id).execute();
    const who = visitor(site.app);
    await who.get('/sign-in');
    for (const password of [PASSWORD, '', 'null']) {
      expect((await who.post('/sign-in', { email: 'keysonly@user.test', password })).statusCode).toBe(422);
    }
  });

  test('signing out ends the session on the server, not only in the browser', async () => {
    await site.makeUser('out@user.test');
    const who = await signedIn('out@user.test');
    const cookie = String(who.cookie());
    await who.get('/account');
    await who.post('/sign-out');
    const thief = visitor(site.app);
    thief.setCookie(cookie);
    expect((await thief.get('/account')).headers.location).toBe('/sign-in');
  });

  test('a session ends by itself', async () => {
    await site.makeUser('idle@user.test');
    const who = await signedIn('idle@user.test');
    await site.ctx.pool.query(`update browser_sessions set expires_at = now() - interval '1 second'`);
    expect((await who.get('/account')).headers.location).toBe('/sign-in');
  });

  test('the database holds neither cookies, nor links, nor passwords', async () => {
    await site.makeUser('leak@user.test');
    const who = await signedIn('leak@user.test');
    const { link } = await registered('leak2@user.test');
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
    for (const secret of [String(who.cookie()), tokenOf(link), PASSWORD, 'leak2@user.test'])
      expect(dump).not.toContain(secret);
    expect(dump).toContain('leak@user.test');
  });
});

describe('a forgotten password', () => {
  test('the link sets a new one once, and ends all sessions and grants', async () => {
    const id = await site.makeUser('reset@user.test');
    const who = await signedIn('reset@user.test');
    const token = await site.tokenFor({ userId: id });
    const asker = visitor(site.app);
    await asker.get('/forgot');
    await asker.post('/forgot', { email: 'RESET@user.test' });
    const link = linkIn(await site.mailTo('reset@user.test', /Set a new/));
    await asker.get(pathOf(link));
    expect((await asker.post('/reset', { token: tokenOf(link), password: 'short' })).statusCode).toBe(422);
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        asker.post('/reset', { token: tokenOf(link), password: `a new harbour ${i}` }),
      ),
    );
    expect(replies.filter((reply) => reply.statusCode === 303)).toHaveLength(1);
    const winner = replies.findIndex((reply) => reply.statusCode === 303);
    expect((await who.get('/account')).headers.location).toBe('/sign-in');
    expect(await site.ctx.oauth.listGrants(id)).toEqual([]);
    await expect.poll(async () => await site.ctx.guard.check(token)).toBeNull();
    await signedIn('reset@user.test', `a new harbour ${winner}`);
    await site.mailTo('reset@user.test', /was changed/);
  });

  test('a newer link replaces the older', async () => {
    await site.makeUser('twolinks@user.test');
    const asker = visitor(site.app);
    await asker.get('/forgot');
    await asker.post('/forgot', { email: 'twolinks@user.test' });
    const first = linkIn(await site.mailTo('twolinks@user.test', /Set a new/));
    await asker.post('/forgot', { email: 'twolinks@user.test' });
    expect((await asker.get(pathOf(first))).statusCode).toBe(410);
  });
});
