import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testConfig } from './support/app.ts';
import { linkIn, PASSWORD, type Site, startSite } from './support/site.ts';
import { visitor } from './support/visitor.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite();
  await site.makeUser('victim@user.test');
});

afterAll(() => site.close());

const credentials = { email: 'victim@user.test', password: PASSWORD };

/** At the consent page. */
async function consenting(email = 'victim@user.test') {
  const who = visitor(site.app);
  await who.open(site.authorizeUrl().url.slice(site.url.length));
  const next =
    /name="next" value="([^"]+)"/.exec(
      (await who.open(site.authorizeUrl().url.slice(site.url.length))).body,
    )?.[1] ?? '';
  const reply = await who.post('/sign-in', { email, password: PASSWORD, next });
  const page = await who.open(String(reply.headers.location));
  const path = /action="(\/interaction\/[^"]+)"/.exec(page.body)?.[1] ?? '';
  expect(page.body).toContain('wants to use your account');
  return { who, path };
}

describe('forged forms', () => {
  test.each([
    '/sign-in',
    '/register',
    '/forgot',
    '/sign-out',
    '/account/disconnect',
    '/account/passkeys/remove',
  ])('%s: no form without the token of this browser', async (path) => {
    const who = visitor(site.app);
    await who.get('/sign-in');
    const other = visitor(site.app);
    await other.get('/sign-in');
    for (const csrf of ['', 'x', other.csrf(), who.csrf().slice(0, 8)]) {
      const reply = await who.post(path, { csrf });
      expect(reply.statusCode).toBe(403);
      expect(reply.headers['content-type']).toContain('text/html');
    }
  });

  test('a sign-in that another site posts is refused even with a right token', async () => {
    const who = visitor(site.app);
    await who.get('/sign-in');
    for (const headers of [
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expect((await who.post('/sign-in', credentials, headers)).statusCode).toBe(403);
    }
    expect(
      (await who.post('/sign-in', credentials, { origin: site.url, 'sec-fetch-site': 'same-origin' }))
        .statusCode,
    ).toBe(303);
  });

  test('consent: neither a missing token, nor one from before signing in, nor another browser can allow', async () => {
    const { who, path } = await consenting();
    const right = who.csrf();
    const other = visitor(site.app);
    await other.get('/sign-in');
    for (const csrf of ['', other.csrf()])
      expect((await who.post(path, { csrf, decision: 'allow' })).statusCode).toBe(403);
    expect((await other.post(path, { decision: 'allow' })).statusCode).toBe(400);
    expect((await who.post(path, { csrf: right, decision: 'allow' })).statusCode).toBe(303);
  });

  test('a passkey call needs the token too, and takes no form', async () => {
    const who = visitor(site.app);
    await who.get('/sign-in');
    const call = (payload: object) =>
      site.app.inject({
        method: 'POST',
        url: '/passkeys/sign-in/options',
        headers: { cookie: `causeway=${who.cookie()}` },
        payload,
      });
    expect((await call({ csrf: 'x' })).json()).toMatchObject({ code: 'forged_form' });
    expect((await call({ csrf: who.csrf() })).statusCode).toBe(200);
    expect((await who.post('/passkeys/sign-in/options')).statusCode).toBe(415);
  });
});

test('clickjacking: no page can be framed, and none runs or loads what is not ours', async () => {
  const { who, path } = await consenting();
  for (const page of [
    '/sign-in',
    '/register',
    '/forgot',
    '/account',
    '/confirm?token=x',
    '/reset?token=x',
    path,
  ]) {
    const { headers } = await who.get(page);
    expect(headers['x-frame-options'], page).toBe('DENY');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|script-src(?! 'self')/);
    expect(headers['cache-control']).toBe('no-store');
  }
});

test('session fixation: the cookie from before signing in never becomes a session', async () => {
  const who = visitor(site.app);
  await who.get('/sign-in');
  const planted = String(who.cookie());
  await who.post('/sign-in', credentials);
  expect(who.cookie()).not.toBe(planted);
  const attacker = visitor(site.app);
  attacker.setCookie(planted);
  expect((await attacker.get('/account')).headers.location).toBe('/sign-in');
  expect((await who.get('/account')).statusCode).toBe(200);
});

test('signing in again ends the session that the browser had', async () => {
  const who = visitor(site.app);
  await who.get('/sign-in');
  await who.post('/sign-in', credentials);
  const before = String(who.cookie());
  await who.get('/account');
  await who.post('/sign-in', credentials);
  const old = visitor(site.app);
  old.setCookie(before);
  expect((await old.get('/account')).headers.location).toBe('/sign-in');
});

describe('user enumeration', () => {
  const plain = (body: string, email: string) =>
    body
      .replaceAll(email, 'EMAIL')
      .replace(/name="csrf" value="[^"]+"/g, '')
      .replace(/data-csrf="[^"]+"/g, '');

  async function ask(path: string, fields: Record<string, string>) {
    const who = visitor(site.app);
    await who.get(path);
    const before = (await site.ctx.metrics.passwordChecks.get()).values[0]?.value ?? 0;
    const reply = await who.post(path, fields);
    const checks = ((await site.ctx.metrics.passwordChecks.get()).values[0]?.value ?? 0) - before;
    const {
      date: _date,
      'x-request-id': _id,
      'content-length': _length,
      'set-cookie': _cookie,
      ...headers
    } = reply.headers;
    return { status: reply.statusCode, headers, body: plain(reply.body, fields.email ?? ''), checks };
  }

  test('sign-in: a wrong password and an unknown address answer the same after the same work', async () => {
    const known = await ask('/sign-in', { email: 'victim@user.test', password: 'wrong harbour' });
    const unknown = await ask('/sign-in', { email: 'nobody@user.test', password: 'wrong harbour' });
    expect(known.checks).toBe(1);
    expect(unknown).toEqual(known);
  });

  test('registration: a known address answers the same and gets another mail', async () => {
    const known = await ask('/register', { email: 'victim@user.test', password: PASSWORD, kind: 'person' });
    const unknown = await ask('/register', {
      email: 'stranger@user.test',
      password: PASSWORD,
      kind: 'person',
    });
    expect(unknown).toEqual(known);
    expect((await site.mailTo('victim@user.test', /already have/)).text).not.toContain('token=');
    await site.mailTo('stranger@user.test', /Confirm/);
  });

  test('forgotten password: an unknown address answers the same and gets a mail as well', async () => {
    const known = await ask('/forgot', { email: 'victim@user.test' });
    const unknown = await ask('/forgot', { email: 'unheard@user.test' });
    expect(unknown).toEqual(known);
    await site.mailTo('victim@user.test', /Set a new/);
    expect((await site.mailTo('unheard@user.test', /no account/)).text).not.toContain('token=');
  });
});

describe('mass assignment', () => {
  test.each([
    'id',
    'user_id',
    'email_confirmed_at',
    'password_hash',
    'role',
    'is_admin',
    '__proto__',
    'constructor',
  ])('register refuses the field %s', async (name) => {
    const who = visitor(site.app);
    await who.get('/register');
    const reply = await who.post('/register', {
      email: 'mass@user.test',
      password: PASSWORD,
      kind: 'person',
      [name]: '1',
    });
    expect(reply.statusCode).toBe(422);
  });

  test('a field that stands twice is refused', async () => {
    const who = visitor(site.app);
    await who.get('/register');
    const payload = `csrf=${who.csrf()}&email=a%40user.test&email=b%40user.test&password=${PASSWORD}&kind=person`;
    const reply = await site.app.inject({
      method: 'POST',
      url: '/register',
      headers: { cookie: `causeway=${who.cookie()}`, 'content-type': 'application/x-www-form-urlencoded' },
      payload,
    });
    expect(reply.statusCode).toBe(400);
  });
});

test.each([
  'https://evil.test',
  '//evil.test',
  '/\\evil.test',
  '/interaction/../../evil',
  '/interaction/x?y=//evil.test',
  '/interaction/x%0d%0aLocation:%20//evil.test',
  'javascript:alert(1)',
  '/account@evil.test',
  '',
])('open redirects: %s leads to the account', async (next) => {
  const who = visitor(site.app);
  const page = await who.get(`/sign-in?next=${encodeURIComponent(next)}`);
  expect(page.body).not.toContain('evil');
  expect((await who.post('/sign-in', { ...credentials, next })).headers.location).toBe('/account');
  await who.get('/account');
  expect((await who.post('/sign-out', { next })).headers.location).toBe('/sign-in');
});

test('markup in what a visitor sends comes back as text', async () => {
  const who = visitor(site.app);
  await who.get('/sign-in');
  const attack = '"><script>alert(1)</script>\'<img src=x onerror=alert(1)>';
  for (const [path, fields] of [
    ['/sign-in', { email: attack, password: 'x' }],
    ['/register', { email: attack, password: 'x', kind: attack }],
    ['/forgot', { email: attack }],
  ] as const) {
    const { body } = await who.post(path, fields);
    expect(body).not.toMatch(/<script>|<img src=x/);
    expect(body).toContain('&lt;script&gt;');
  }
  const hinted = await who.open(site.authorizeUrl({ login_hint: attack }).url.slice(site.url.length));
  expect(hinted.body).not.toContain('<script>alert');
});

describe('throttling', () => {
  let strict: Site;
  beforeAll(async () => {
    strict = await startSite({
      limits: { ...testConfig().limits, sign_in: 3, account_mail: 2, account_forms: 25 },
    });
    await strict.makeUser('target@user.test');
  });
  afterAll(() => strict.close());

  test('an account takes so many attempts a minute, the right password or not, and no other account suffers', async () => {
    await strict.makeUser('bystander@user.test');
    const who = visitor(strict.app);
    await who.get('/sign-in');
    const attempt = (email: string, password: string) => who.post('/sign-in', { email, password });
    for (let i = 0; i < 3; i++)
      expect((await attempt('target@user.test', 'wrong harbour')).statusCode).toBe(422);
    const refused = await attempt('Target@user.test', PASSWORD);
    expect(refused.statusCode).toBe(429);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect((await attempt('bystander@user.test', PASSWORD)).statusCode).toBe(303);
  });

  test('nobody is mailed more than so many times a minute', async () => {
    const who = visitor(strict.app);
    await who.get('/forgot');
    const statuses = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await who.post('/forgot', { email: 'filled@user.test' })).statusCode);
    expect(statuses).toEqual([200, 200, 429]);
  });

  test('an address gets so many forms a minute, whatever they are', async () => {
    const who = visitor(strict.app);
    await who.get('/sign-in');
    let last = 0;
    for (let i = 0; i < 30; i++)
      last = (await who.post('/sign-in', { email: `n${i}@user.test`, password: 'x' })).statusCode;
    expect(last).toBe(429);
  });

  test('a patient guesser is stopped after fifty failures an hour, until the owner sets a new password', async () => {
    await site.makeUser('patient@user.test');
    const who = visitor(site.app);
    await who.get('/sign-in');
    await sql`insert into sign_in_failures (account, count, window_end)
      values (${site.ctx.sealing.tag('account', 'patient@user.test')}, 50, now() + interval '1 hour')`.execute(
      site.ctx.db,
    );
    expect((await who.post('/sign-in', { email: 'patient@user.test', password: PASSWORD })).statusCode).toBe(
      429,
    );
    await who.post('/forgot', { email: 'patient@user.test' });
    const token =
      new URL(linkIn(await site.mailTo('patient@user.test', /Set a new/))).searchParams.get('token') ?? '';
    await who.post('/reset', { token, password: 'patience rewarded' });
    await who.get('/sign-in');
    expect(
      (await who.post('/sign-in', { email: 'patient@user.test', password: 'patience rewarded' })).statusCode,
    ).toBe(303);
  });
});

test('what users type never reaches the log', async () => {
  const logged = site.logged();
  expect(logged).toContain('"route":"/sign-in"');
  for (const secret of [PASSWORD, 'victim@user.test', 'stranger@user.test', 'wrong harbour'])
    expect(logged).not.toContain(secret);
});
