import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { makeUser } from '../../../test/support/tokens.ts';
import { newSecret } from '../../kernel/secret-hash.ts';
import { consumeChallenge, insertChallenge } from './passkey-store.ts';
import {
  addPasskey,
  addPasskeyOptions,
  passkeyUrl,
  signInOptions,
  signInWithPasskey,
  supportsPasskeys,
} from './passkeys.ts';

let app: TestApp;

beforeAll(async () => {
  app = await testApp();
});

afterAll(() => app.close());

describe('passkey challenges', () => {
  test('one of fifty concurrent responses consumes the challenge', async () => {
    const cookie = newSecret(app.ctx.random);
    await insertChallenge(app.ctx.db, 'once', 'sign_in', cookie);
    const consumed = await Promise.all(
      Array.from({ length: 50 }, () => consumeChallenge(app.ctx.db, 'once', 'sign_in', cookie)),
    );
    expect(consumed.filter(Boolean)).toHaveLength(1);
  });

  test('another browser, another purpose or a late response cannot consume the challenge', async () => {
    const cookie = newSecret(app.ctx.random);
    await insertChallenge(app.ctx.db, 'bound', 'sign_in', cookie);
    expect(await consumeChallenge(app.ctx.db, 'bound', 'sign_in', newSecret(app.ctx.random))).toBe(false);
    expect(await consumeChallenge(app.ctx.db, 'bound', 'add', cookie)).toBe(false);
    await app.ctx.pool.query(`update passkey_challenges set expires_at = now() - interval '1 second'`);
    expect(await consumeChallenge(app.ctx.db, 'bound', 'sign_in', cookie)).toBe(false);
  });

  test('a response that fails verification consumes the challenge', async () => {
    const cookie = newSecret(app.ctx.random);
    const id = await makeUser(app.ctx);
    const user = { id, email: 'a@user.test', kind: 'person', locale: null } as const;
    const { challenge } = await addPasskeyOptions(app.ctx, cookie, user);
    const clientData = { type: 'webauthn.create', challenge, origin: app.ctx.baseUrl };
    const clientDataJSON = Buffer.from(JSON.stringify(clientData)).toString('base64url');
    const forged = {
      id: 'AAAA',
      rawId: 'AAAA',
      type: 'public-key',
      response: { clientDataJSON, attestationObject: 'oA' },
    };
    expect(await addPasskey(app.ctx, cookie, { id, user }, forged)).toBe(false);
    expect(await consumeChallenge(app.ctx.db, challenge, 'add', cookie)).toBe(false);
  });
});

test.each([
  null,
  'text',
  {},
  { id: 1 },
  { id: 'AAAA' },
  { id: 'AAAA', response: {} },
  { id: 'AAAA', response: { clientDataJSON: '%%%' } },
])('a malformed response does not sign in: %j', async (response) => {
  const cookie = newSecret(app.ctx.random);
  await signInOptions(app.ctx, cookie);
  expect(
    await signInWithPasskey(
      app.ctx,
      { cookie, source: { device: 'device', network: '127.0.0.1', browser: null } },
      response,
    ),
  ).toBeNull();
});

test('passkeys are offered on domain names, not on IP addresses', () => {
  const at = (baseUrl: string) => supportsPasskeys({ ...app.ctx, baseUrl });
  expect([at('https://id.example.com'), at('http://localhost:8080')]).toEqual([true, true]);
  expect([at('http://127.0.0.1:8080'), at('http://[::1]:8080')]).toEqual([false, false]);
});

test('a sandbox at an IP address offers passkeys at localhost, production does not', () => {
  const at = (baseUrl: string, profile: 'sandbox' | 'production') =>
    passkeyUrl({ ...app.ctx, baseUrl, config: { ...app.ctx.config, profile } }, '/account');
  expect(at('http://127.0.0.1:8080', 'sandbox')).toBe('http://localhost:8080/account');
  expect(at('http://[::1]:8080', 'sandbox')).toBe('http://localhost:8080/account');
  expect(at('http://localhost:8080', 'sandbox')).toBeNull();
  expect(at('http://192.0.2.1:8080', 'sandbox')).toBeNull();
  expect(at('http://127.0.0.1:8080', 'production')).toBeNull();
});

test('over TLS the cookie is Secure and bound to this host', async () => {
  const secure = await testApp({ baseUrl: 'https://causeway.test' });
  const { headers } = await secure.app.inject({ url: '/sign-in' });
  expect(headers['set-cookie']?.[0]).toMatch(
    /^__Host-causeway=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  await secure.close();
});
