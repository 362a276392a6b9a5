import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../test/support/app.ts';
import { allow, authorizeUrl, newBrowser, newPkce, postToken } from '../../test/support/browser.ts';
import { makeClient, makeUser, type TestClient } from '../../test/support/tokens.ts';
import { runHousekeeping } from '../jobs/housekeeping.ts';
import { rotateSecret } from '../partners/partner.ts';

let one: TestApp;
let client: TestClient;
beforeAll(async () => {
  one = await testApp({ pages: false, plugins: [allow] });
  client = await makeClient(one.ctx);
  await makeUser(one.ctx);
});
afterAll(() => one.close());

/** Every row of every table as text. */
async function dump(): Promise<string> {
  const { rows } = await one.ctx.pool.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  );
  const parts = await Promise.all(
    rows.map(async ({ name }) =>
      (await one.ctx.pool.query(`select row_to_json(t)::text as row from ${name} t`)).rows.map(
        ({ row }) => `${name} ${row}`,
      ),
    ),
  );
  return parts.flat().join('\n');
}

test('the database holds no token, code, secret, cookie or private key that would work, only hashes', async () => {
  const browser = newBrowser(one.app);
  const pkce = newPkce();
  const { callback } = await browser.open(authorizeUrl(client.clientId, pkce));
  const code = String(callback?.searchParams.get('code'));
  const unused = await one.app.inject(authorizeUrl(client.clientId, newPkce()));
  const tokens = (
    await postToken(one.app, client, { grant_type: 'authorization_code', code, code_verifier: pkce.verifier })
  ).json();
  const again = await browser.open(authorizeUrl(client.clientId, newPkce()));
  const partner = (
    await postToken(one.app, client, { grant_type: 'client_credentials', redirect_uri: undefined })
  ).json();
  const cookie = [...browser.jar].map(([name, { value }]) => `${name.split('@')[0]}=${value}`).join('; ');
  const asked = await one.app.inject({
    url: authorizeUrl(client.clientId, newPkce(), { prompt: 'consent' }),
    headers: { cookie },
  });
  expect(asked.headers.location).toMatch(/^\/interaction\//);
  const secrets = {
    code,
    second_code: String(again.callback?.searchParams.get('code')),
    access_token: tokens.access_token,
    refresh_token: tokens.refresh_token,
    id_token: tokens.id_token,
    partner_token: partner.access_token,
    verifier: pkce.verifier,
    client_secret: client.secret,
    rotated_secret: await rotateSecret(one.ctx, client.clientId, 60),
    interaction: String(unused.headers.location).split('/').at(-1),
    cookies: [...browser.jar.values()].map(({ value }) => value),
  };
  const text = await dump();
  for (const kind of ['oauth_tokens', 'AuthorizationCode', 'RefreshToken', 'Session', 'Interaction'])
    expect(text).toContain(kind);
  for (const [name, values] of Object.entries(secrets)) {
    for (const secret of [values].flat()) {
      expect(String(secret).length, name).toBeGreaterThan(20);
      expect(text.includes(String(secret)), name).toBe(false);
      expect(text.includes(Buffer.from(String(secret)).toString('hex')), name).toBe(false);
    }
  }
  expect(text).not.toMatch(/"(d|p|q|dp|dq|qi)"\s*:/);
  expect(one.logged()).not.toContain(tokens.access_token);
  expect(one.logged()).not.toContain(client.secret);
});

test('housekeeping deletes what has expired and nothing that lives', async () => {
  const count = async (where: string) =>
    Number((await one.ctx.pool.query(`select count(*)::int as n from ${where}`)).rows[0].n);
  const live = await one.tokenFor({});
  await one.ctx.pool.query(
    `update oauth_tokens set expires_at = now() - interval '2 days' where hash <> sha256($1::bytea)`,
    [Buffer.from(live)],
  );
  await one.ctx.pool.query(
    `update oauth_artifacts set expires_at = now() - interval '2 days' where kind <> 'RefreshToken'`,
  );
  const dead = await one.tokenFor({});
  await one.ctx.pool.query(
    `update oauth_grants set revoked_at = now() - interval '2 days' where id = (select grant_id from oauth_tokens where hash = sha256($1::bytea))`,
    [Buffer.from(dead)],
  );
  await runHousekeeping(one.ctx);
  expect(await count(`oauth_tokens where expires_at < now()`)).toBe(0);
  expect(await count(`oauth_artifacts where expires_at < now()`)).toBe(0);
  expect(await count(`oauth_grants where revoked_at < now() - interval '1 day'`)).toBe(0);
  expect(await one.ctx.guard.check(live)).not.toBeNull();
  expect(await one.ctx.guard.check(dead)).toBeNull();
});
