import { afterAll, beforeAll, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { allow, authorizeUrl, newBrowser, newPkce, postToken } from '../../../test/support/browser.ts';
import { makeClient, makeUser, type TestClient } from '../../../test/support/tokens.ts';
import { runHousekeeping } from '../../edges/housekeeping.ts';
import { rotateSecret } from '../partners/partner.ts';

let node: TestApp;
let client: TestClient;
beforeAll(async () => {
  node = await testApp({ pages: false, plugins: [allow] });
  client = await makeClient(node.ctx);
  await makeUser(node.ctx);
});
afterAll(() => node.close());

/** Returns all rows of all tables as text. */
async function dump(): Promise<string> {
  const { rows } = await node.ctx.pool.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public'`,
  );
  const parts = await Promise.all(
    rows.map(async ({ name }) =>
      (await node.ctx.pool.query(`select row_to_json(t)::text as row from ${name} t`)).rows.map(
        ({ row }) => `${name} ${row}`,
      ),
    ),
  );
  return parts.flat().join('\n');
}

test('the database stores tokens, codes, secrets and cookies only as hashes, and no private key in the clear', async () => {
  const browser = newBrowser(node.app);
  const pkce = newPkce();
  const { callback } = await browser.open(authorizeUrl(client.clientId, pkce));
  const code = String(callback?.searchParams.get('code'));
  const unused = await node.app.inject(authorizeUrl(client.clientId, newPkce()));
  const tokens = (
    await postToken(node.app, client, {
      grant_type: 'authorization_code',
      code,
      code_verifier: pkce.verifier,
    })
  ).json();
  const second = await browser.open(authorizeUrl(client.clientId, newPkce()));
  const partner = (
    await postToken(node.app, client, { grant_type: 'client_credentials', redirect_uri: undefined })
  ).json();
  const cookie = [...browser.jar].map(([name, { value }]) => `${name.split('@')[0]}=${value}`).join('; ');
  const pending = await node.app.inject({
    url: authorizeUrl(client.clientId, newPkce(), { prompt: 'consent' }),
    headers: { cookie },
  });
  expect(pending.headers.location).toMatch(/^\/interaction\//);
  const secrets = {
    code,
    second_code: String(second.callback?.searchParams.get('code')),
    access_token: tokens.access_token,
    refresh_token: tokens.refresh_token,
    id_token: tokens.id_token,
    partner_token: partner.access_token,
    verifier: pkce.verifier,
    client_secret: client.secret,
    rotated_secret: await rotateSecret(node.ctx, client.clientId, 60),
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
  expect(node.logged()).not.toContain(tokens.access_token);
  expect(node.logged()).not.toContain(client.secret);
});

test('housekeeping deletes expired rows only', async () => {
  const count = async (where: string) =>
    Number((await node.ctx.pool.query(`select count(*)::int as n from ${where}`)).rows[0].n);
  const active = await node.tokenFor({});
  await node.ctx.pool.query(
    `update oauth_tokens set expires_at = now() - interval '2 days' where hash <> sha256($1::bytea)`,
    [Buffer.from(active)],
  );
  await node.ctx.pool.query(
    `update oauth_artifacts set expires_at = now() - interval '2 days' where kind <> 'RefreshToken'`,
  );
  const revoked = await node.tokenFor({});
  await node.ctx.pool.query(
    `update oauth_grants set revoked_at = now() - interval '2 days' where id = (select grant_id from oauth_tokens where hash = sha256($1::bytea))`,
    [Buffer.from(revoked)],
  );
  await runHousekeeping(node.ctx);
  expect(await count(`oauth_tokens where expires_at < now()`)).toBe(0);
  expect(await count(`oauth_artifacts where expires_at < now()`)).toBe(0);
  expect(await count(`oauth_grants where revoked_at < now() - interval '1 day'`)).toBe(0);
  expect(await node.ctx.guard.check(active)).not.toBeNull();
  expect(await node.ctx.guard.check(revoked)).toBeNull();
});
