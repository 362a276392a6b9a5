import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testConfig } from './support/app.ts';
import { linkIn, PASSWORD, type Site, startSite } from './support/site.ts';
import { newVisitor } from './support/visitor.ts';

let site: Site;

beforeAll(async () => {
  site = await startSite();
  await site.makeUser('victim@user.test');
});

afterAll(() => site.close());

const credentials = { email: 'victim@user.test', password: PASSWORD };

/** Signs in and opens the consent page. */
async function openConsent(email = 'victim@user.test') {
  const visitor = newVisitor(site.app);
  await visitor.open(site.authorizeUrl({ prompt: 'consent' }).url.slice(site.url.length));
  const next =
    /name="next" value="([^"]+)"/.exec(
      (await visitor.open(site.authorizeUrl({ prompt: 'consent' }).url.slice(site.url.length))).body,
    )?.[1] ?? '';
  const reply = await visitor.post('/sign-in', { email, password: PASSWORD, next });
  const page = await visitor.open(String(reply.headers.location));
  const path = /action="(\/interaction\/[^"]+)"/.exec(page.body)?.[1] ?? '';
  expect(page.body).toContain('wants to access your account');
  return { visitor, path };
}

describe('CSRF', () => {
  test.each([
    '/sign-in',
    '/register',
    '/forgot',
    '/sign-out',
    '/account/disconnect',
    '/account/passkeys/remove',
  ])('%s rejects forms without the token of this browser', async (path) => {
    const visitor = newVisitor(site.app);
    await visitor.get('/sign-in');
    const other = newVisitor(site.app);
    await other.get('/sign-in');
    for (const csrf of ['', 'x', other.csrf(), visitor.csrf().slice(0, 8)]) {
      const reply = await visitor.post(path, { csrf });
      expect(reply.statusCode).toBe(403);
      expect(reply.headers['content-type']).toContain('text/html');
    }
  });

  test('a cross-site sign-in is rejected even with a valid token', async () => {
    const visitor = newVisitor(site.app);
    await visitor.get('/sign-in');
    for (const headers of [
      { origin: 'https://evil.test' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expect((await visitor.post('/sign-in', credentials, headers)).statusCode).toBe(403);
    }
    expect(
      (await visitor.post('/sign-in', credentials, { origin: site.url, 'sec-fetch-site': 'same-origin' }))
        .statusCode,
    ).toBe(303);
  });

  test('consent requires this browser and its current token', async () => {
    const { visitor, path } = await openConsent();
    const valid = visitor.csrf();
    const other = newVisitor(site.app);
    await other.get('/sign-in');
    for (const csrf of ['', other.csrf()])
      expect((await visitor.post(path, { csrf, decision: 'allow' })).statusCode).toBe(403);
    expect((await other.post(path, { decision: 'allow' })).statusCode).toBe(400);
    expect((await visitor.post(path, { csrf: valid, decision: 'allow' })).statusCode).toBe(303);
  });

  test('passkey calls require the token and reject forms', async () => {
    const visitor = newVisitor(site.app);
    await visitor.get('/sign-in');
    const call = (payload: object) =>
      site.app.inject({
        method: 'POST',
        url: '/passkeys/sign-in/options',
        headers: { cookie: `causeway=${visitor.cookie()}` },
        payload,
      });
    expect((await call({ csrf: 'x' })).json()).toMatchObject({ code: 'forged_form' });
    expect((await call({ csrf: visitor.csrf() })).statusCode).toBe(200);
    expect((await visitor.post('/passkeys/sign-in/options')).statusCode).toBe(415);
  });
});

test('no page can be framed or load foreign scripts', async () => {
  const { visitor, path } = await openConsent();
  for (const page of [
    '/sign-in',
    '/register',
    '/forgot',
    '/account',
    '/confirm?token=x',
    '/reset?token=x',
    path,
  ]) {
    const { headers } = await visitor.get(page);
    expect(headers['x-frame-options'], page).toBe('DENY');
    const policy = String(headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|script-src(?! 'self')/);
    expect(headers['cache-control']).toBe('no-store');
  }
});

test('session fixation: a cookie set before sign-in never becomes a session', async () => {
  const visitor = newVisitor(site.app);
  await visitor.get('/sign-in');
  const planted = String(visitor.cookie());
  await visitor.post('/sign-in', credentials);
  expect(visitor.cookie()).not.toBe(planted);
  const attacker = newVisitor(site.app);
  attacker.setCookie(planted);
  expect((await attacker.get('/account')).headers.location).toBe('/sign-in');
  expect((await visitor.get('/account')).statusCode).toBe(200);
});

test('signing in again ends the previous session of the browser', async () => {
  const visitor = newVisitor(site.app);
  await visitor.get('/sign-in');
  await visitor.post('/sign-in', credentials);
  const previous = String(visitor.cookie());
  await visitor.get('/account');
  await visitor.post('/sign-in', credentials);
  const old = newVisitor(site.app);
  old.setCookie(previous);
  expect((await old.get('/account')).headers.location).toBe('/sign-in');
});

describe('user enumeration', () => {
  const normalize = (body: string, email: string) =>
    body
      .replaceAll(email, 'EMAIL')
      .replace(/name="csrf" value="[^"]+"/g, '')
      .replace(/data-csrf="[^"]+"/g, '');

  async function submit(path: string, fields: Record<string, string>) {
    const visitor = newVisitor(site.app);
    await visitor.get(path);
    const before = (await site.ctx.metrics.passwordChecks.get()).values[0]?.value ?? 0;
    const reply = await visitor.post(path, fields);
    const checks = ((await site.ctx.metrics.passwordChecks.get()).values[0]?.value ?? 0) - before;
    const {
      date: _date,
      'x-request-id': _id,
      'content-length': _length,
      'set-cookie': _cookie,
      ...headers
    } = reply.headers;
    return { status: reply.statusCode, headers, body: normalize(reply.body, fields.email ?? ''), checks };
  }

  test('sign-in treats a wrong password and an unknown address alike, at equal cost', async () => {
    const known = await submit('/sign-in', { email: 'victim@user.test', password: 'wrong harbour' });
    const unknown = await submit('/sign-in', { email: 'nobody@user.test', password: 'wrong harbour' });
    expect(known.checks).toBe(1);
    expect(unknown).toEqual(known);
  });

  test('registration replies alike for a known address, whose owner gets a different mail', async () => {
    const known = await submit('/register', {
      email: 'victim@user.test',
      password: PASSWORD,
      kind: 'person',
    });
    const unknown = await submit('/register', {
      email: 'stranger@user.test',
      password: PASSWORD,
      kind: 'person',
    });
    expect(unknown).toEqual(known);
    expect((await site.mailTo('victim@user.test', /already have/)).text).not.toContain('token=');
    await site.mailTo('stranger@user.test', /Confirm/);
  });

  test('password reset replies alike for an unknown address, which gets a mail too', async () => {
    const known = await submit('/forgot', { email: 'victim@user.test' });
    const unknown = await submit('/forgot', { email: 'unregistered@user.test' });
    expect(unknown).toEqual(known);
    await site.mailTo('victim@user.test', /Set a new/);
    expect((await site.mailTo('unregistered@user.test', /no account/)).text).not.toContain('token=');
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
  ])('registration rejects the field %s', async (name) => {
    const visitor = newVisitor(site.app);
    await visitor.get('/register');
    const reply = await visitor.post('/register', {
      email: 'mass@user.test',
      password: PASSWORD,
      kind: 'person',
      [name]: '1',
    });
    expect(reply.statusCode).toBe(422);
  });

  test('a repeated field is rejected', async () => {
    const visitor = newVisitor(site.app);
    await visitor.get('/register');
    const payload = `csrf=${visitor.csrf()}&email=a%40user.test&email=b%40user.test&password=${PASSWORD}&kind=person`;
    const reply = await site.app.inject({
      method: 'POST',
      url: '/register',
      headers: {
        cookie: `causeway=${visitor.cookie()}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
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
])('open redirects: %s redirects to the account page', async (next) => {
  const visitor = newVisitor(site.app);
  const page = await visitor.get(`/sign-in?next=${encodeURIComponent(next)}`);
  expect(page.body).not.toContain('evil');
  expect((await visitor.post('/sign-in', { ...credentials, next })).headers.location).toBe('/account');
  await visitor.get('/account');
  expect((await visitor.post('/sign-out', { next })).headers.location).toBe('/sign-in');
});

test('submitted markup is escaped', async () => {
  const visitor = newVisitor(site.app);
  await visitor.get('/sign-in');
  const attack = '"><script>alert(1)</script>\'<img src=x onerror=alert(1)>';
  for (const [path, fields] of [
    ['/sign-in', { email: attack, password: 'x' }],
    ['/register', { email: attack, password: 'x', kind: attack }],
    ['/forgot', { email: attack }],
  ] as const) {
    const { body } = await visitor.post(path, fields);
    expect(body).not.toMatch(/<script>|<img src=x/);
    expect(body).toContain('&lt;script&gt;');
  }
  const hinted = await visitor.open(site.authorizeUrl({ login_hint: attack }).url.slice(site.url.length));
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

  test('sign-in attempts are limited per account, and other accounts are unaffected', async () => {
    await strict.makeUser('bystander@user.test');
    const visitor = newVisitor(strict.app);
    await visitor.get('/sign-in');
    const attempt = (email: string, password: string) => visitor.post('/sign-in', { email, password });
    for (let i = 0; i < 3; i++)
      expect((await attempt('target@user.test', 'wrong harbour')).statusCode).toBe(422);
    const limited = await attempt('Target@user.test', PASSWORD);
    expect(limited.statusCode).toBe(429);
    expect(Number(limited.headers['retry-after'])).toBeGreaterThan(0);
    expect((await attempt('bystander@user.test', PASSWORD)).statusCode).toBe(303);
  });

  test('mails are limited per recipient', async () => {
    const visitor = newVisitor(strict.app);
    await visitor.get('/forgot');
    const statuses = [];
    for (let i = 0; i < 3; i++)
      statuses.push((await visitor.post('/forgot', { email: 'flooded@user.test' })).statusCode);
    expect(statuses).toEqual([200, 200, 429]);
  });

  test('forms are limited per IP address', async () => {
    const visitor = newVisitor(strict.app);
    await visitor.get('/sign-in');
    let last = 0;
    for (let i = 0; i < 30; i++)
      last = (await visitor.post('/sign-in', { email: `n${i}@user.test`, password: 'x' })).statusCode;
    expect(last).toBe(429);
  });

  test('fifty failures an hour lock the account until the owner resets the password', async () => {
    await site.makeUser('patient@user.test');
    const visitor = newVisitor(site.app);
    await visitor.get('/sign-in');
    await sql`insert into sign_in_failures (account, count, window_end)
      values (${site.ctx.sealing.tag('account', 'patient@user.test')}, 50, now() + interval '1 hour')`.execute(
      site.ctx.db,
    );
    expect(
      (await visitor.post('/sign-in', { email: 'patient@user.test', password: PASSWORD })).statusCode,
    ).toBe(429);
    await visitor.post('/forgot', { email: 'patient@user.test' });
    const token =
      new URL(linkIn(await site.mailTo('patient@user.test', /Set a new/))).searchParams.get('token') ?? '';
    await visitor.post('/reset', { token, password: 'patience rewarded' });
    await visitor.get('/sign-in');
    expect(
      (await visitor.post('/sign-in', { email: 'patient@user.test', password: 'patience rewarded' }))
        .statusCode,
    ).toBe(303);
  });
});

test('user input never reaches the log', async () => {
  const logged = site.logged();
  expect(logged).toContain('"route":"/sign-in"');
  for (const secret of [PASSWORD, 'victim@user.test', 'stranger@user.test', 'wrong harbour'])
    expect(logged).not.toContain(secret);
});
