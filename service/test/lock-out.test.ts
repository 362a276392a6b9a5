import fc from 'fast-check';
import type { FastifyInstance, InjectOptions } from 'fastify';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { insertPasskey, listPasskeys } from '../src/domain/accounts/passkey-store.ts';
import { normalizeEmail } from '../src/domain/users/user.ts';
import { newId } from '../src/kernel/ids.ts';
import { testConfig } from './support/app.ts';
import { linkIn, PASSWORD, type Site, startSite } from './support/site.ts';
import { newVisitor, type Visitor } from './support/visitor.ts';

let site: Site;
beforeAll(async () => {
  const limits = { ...testConfig().limits, sign_in: 5, account_mail: 1000, account_forms: 10_000 };
  site = await startSite({ limits });
});
afterAll(() => site.close());

let networks = 0;
const newNetwork = () => `203.0.113.${++networks}`;
/** Returns a browser on the given network. The browser keeps its cookies when it moves to another network. */
function browserIn(network: string): Visitor & { moveTo(network: string): void } {
  let remoteAddress = network;
  const inject = (options: InjectOptions) => site.app.inject({ ...options, remoteAddress });
  const visitor = newVisitor({ inject } as unknown as FastifyInstance);
  return {
    ...visitor,
    moveTo: (next) => {
      remoteAddress = next;
    },
  };
}

/** Signs out. Loads the page before posting, because the form token changes with the cookie. */
async function signOut(visitor: Visitor): Promise<void> {
  await visitor.get('/account');
  expect((await visitor.post('/sign-out')).statusCode).toBe(303);
}

async function signIn(visitor: Visitor, email: string, password = PASSWORD): Promise<number> {
  await visitor.get('/sign-in');
  return (await visitor.post('/sign-in', { email, password })).statusCode;
}

describe('a stranger who guesses passwords', () => {
  const email = 'ada@lock.test';
  const home = newNetwork();
  const known = browserIn(home);
  beforeAll(async () => {
    await site.makeUser(email);
    expect(await signIn(known, email)).toBe(303);
    await signOut(known);
    const stranger = browserIn(newNetwork());
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push(await signIn(stranger, email, `wrong ${i}`));
    expect([statuses[0], statuses.at(-1)]).toEqual([422, 429]);
  });

  test('locks out other strangers', async () => {
    expect(await signIn(browserIn(newNetwork()), email)).toBe(429);
  });

  test('does not lock out a browser that has signed in before, wherever it is', async () => {
    known.moveTo(newNetwork());
    expect(await signIn(known, email)).toBe(303);
    await signOut(known);
  });

  test('does not lock out another browser in a network that has signed in before', async () => {
    expect(await signIn(browserIn(home), email)).toBe(303);
  });

  test('is limited in a known browser too', async () => {
    const statuses = [];
    for (let i = 0; i < 6; i++) statuses.push(await signIn(known, email, `wrong ${i}`));
    expect(statuses.at(-1)).toBe(429);
  });
});

test('an address receives at most 10 reset mails a day from strangers, and its owner still gets one', async () => {
  const email = 'grace@lock.test';
  await site.makeUser(email);
  const owner = browserIn(newNetwork());
  expect(await signIn(owner, email)).toBe(303);
  const stranger = browserIn(newNetwork());
  await stranger.get('/forgot');
  const statuses = [];
  for (let i = 0; i < 11; i++) statuses.push((await stranger.post('/forgot', { email })).statusCode);
  expect(statuses).toEqual([...Array.from({ length: 10 }, () => 200), 429]);
  await owner.get('/forgot');
  expect((await owner.post('/forgot', { email })).statusCode).toBe(200);
});

test('addresses are compared alike in JavaScript and in PostgreSQL', async () => {
  const { rows } = await sql<{ key: string }>`select lower(${'x'} collate "C") as key`.execute(site.ctx.db);
  expect(rows).toEqual([{ key: 'x' }]);
  const character = fc.constantFrom(
    'I',
    'İ',
    'ı',
    'K',
    'k',
    'ß',
    'ẞ',
    'Σ',
    'ς',
    'É',
    'é',
    'Ａ',
    'a',
    'Z',
    '@',
    '.',
  );
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(character, { maxLength: 12 }), { maxLength: 50 }), async (words) => {
      const emails = words.map((word) => word.join('').normalize('NFC'));
      const found = await sql<{ key: string }>`
        select lower(email collate "C") as key from unnest(${emails}::text[]) with ordinality as t (email, n) order by n`.execute(
        site.ctx.db,
      );
      expect(found.rows.map(({ key }) => key)).toEqual(emails.map(normalizeEmail));
    }),
    { numRuns: 20 },
  );
});

test('a flood of sign-ins is answered, and whatever waits too long for a hash by 503', async () => {
  const visitors = await Promise.all(
    Array.from({ length: 70 }, async (_, i) => {
      const visitor = browserIn(newNetwork());
      await visitor.get('/sign-in');
      return { visitor, email: `nobody-${i}@lock.test` };
    }),
  );
  const replies = await Promise.all(
    visitors.map(({ visitor, email }) => visitor.post('/sign-in', { email, password: PASSWORD })),
  );
  const statuses = replies.map((reply) => reply.statusCode);
  expect(statuses.filter((status) => status !== 422 && status !== 503)).toEqual([]);
  expect(statuses).toContain(422);
});

describe('passkeys', () => {
  const visitor = browserIn(newNetwork());
  const addPasskey = (userId: string) =>
    insertPasskey(site.ctx.db, {
      id: newId(site.ctx.clock, site.ctx.random),
      user_id: userId,
      credential_id: site.ctx.random(16),
      public_key: site.ctx.random(16),
      sign_count: 0,
      transports: [],
      name: 'Synced passkey',
    });
  const count = async (userId: string) => (await listPasskeys(site.ctx.db, userId)).length;

  test('can be changed only within 5 minutes of a sign-in', async () => {
    const email = 'hedy@lock.test';
    const userId = await site.makeUser(email);
    await addPasskey(userId);
    expect(await signIn(visitor, email)).toBe(303);
    const [passkey] = await listPasskeys(site.ctx.db, userId);
    await sql`update browser_sessions set expires_at = expires_at - interval '5 minutes' where user_id = ${userId}`.execute(
      site.ctx.db,
    );
    await visitor.get('/account');
    const options = await site.app.inject({
      method: 'POST',
      url: '/account/passkeys/options',
      headers: { cookie: `causeway=${visitor.cookie()}` },
      payload: { csrf: visitor.csrf() },
    });
    expect([options.statusCode, options.json().code]).toEqual([403, 'recent_sign_in_required']);
    const removal = await visitor.post('/account/passkeys/remove', { id: String(passkey?.id) });
    expect(removal.headers.location).toBe('/sign-in?again=yes');
    expect(await count(userId)).toBe(1);
    const page = await visitor.get('/sign-in?again=yes');
    expect(page.body).toContain('Sign in again to continue.');
    expect((await visitor.post('/sign-in', { email, password: PASSWORD })).headers.location).toBe('/account');
    await visitor.get('/account');
    const again = await visitor.post('/account/passkeys/remove', { id: String(passkey?.id) });
    expect(again.headers.location).toBe('/account?notice=passkey_removed');
    expect(await count(userId)).toBe(0);
  });

  test.each([
    ['stay', {}, 1],
    ['are removed when the user chooses so', { remove_passkeys: 'yes' }, 0],
  ])('%s after a password reset', async (_name, choice, left) => {
    const email = `reset-${left}@lock.test`;
    const userId = await site.makeUser(email);
    await addPasskey(userId);
    await visitor.get('/forgot');
    await visitor.post('/forgot', { email });
    const url = new URL(linkIn(await site.mailTo(email, /Set a new password/)));
    const page = await visitor.get(url.pathname + url.search);
    expect(page.body).toContain('name="remove_passkeys"');
    const token = String(url.searchParams.get('token'));
    const done = await visitor.post('/reset', { token, password: 'amber window orchard', ...choice });
    expect(done.statusCode).toBe(303);
    expect(await count(userId)).toBe(left);
  });
});
