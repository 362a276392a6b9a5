import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../test/support/app.ts';
import { makeUser } from '../../test/support/tokens.ts';
import { newSecret } from '../secret-hash.ts';
import { consumeChallenge, insertChallenge } from './passkey-store.ts';
import { addPasskey, challengePasskey, hasPasskeys, offerPasskey, signInWithPasskey } from './passkeys.ts';

let app: TestApp;

beforeAll(async () => {
  app = await testApp();
});

afterAll(() => app.close());

describe('a challenge', () => {
  test('serves one of fifty answers', async () => {
    const browser = newSecret(app.ctx.random);
    await insertChallenge(app.ctx.db, 'once', 'sign_in', browser);
    const taken = await Promise.all(
      Array.from({ length: 50 }, () => consumeChallenge(app.ctx.db, 'once', 'sign_in', browser)),
    );
    expect(taken.filter(Boolean)).toHaveLength(1);
  });

  test('serves neither another browser, nor another purpose, nor after its time', async () => {
    const browser = newSecret(app.ctx.random);
    await insertChallenge(app.ctx.db, 'bound', 'sign_in', browser);
    expect(await consumeChallenge(app.ctx.db, 'bound', 'sign_in', newSecret(app.ctx.random))).toBe(false);
    expect(await consumeChallenge(app.ctx.db, 'bound', 'add', browser)).toBe(false);
    await app.ctx.pool.query(`update passkey_challenges set expires_at = now() - interval '1 second'`);
    expect(await consumeChallenge(app.ctx.db, 'bound', 'sign_in', browser)).toBe(false);
  });

  test('is spent by an answer that does not verify', async () => {
    const browser = newSecret(app.ctx.random);
    const id = await makeUser(app.ctx);
    const user = { id, email: 'a@user.test', kind: 'person' } as const;
    const { challenge } = await offerPasskey(app.ctx, browser, user);
    const clientData = { type: 'webauthn.create', challenge, origin: app.ctx.baseUrl };
    const clientDataJSON = Buffer.from(JSON.stringify(clientData)).toString('base64url');
    const forged = {
      id: 'AAAA',
      rawId: 'AAAA',
      type: 'public-key',
      response: { clientDataJSON, attestationObject: 'oA' },
    };
    expect(await addPasskey(app.ctx, browser, user, forged)).toBe(false);
    expect(await consumeChallenge(app.ctx.db, challenge, 'add', browser)).toBe(false);
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
])('an answer that is none signs nobody in: %j', async (answer) => {
  const browser = newSecret(app.ctx.random);
  await challengePasskey(app.ctx, browser);
  expect(await signInWithPasskey(app.ctx, browser, answer)).toBeNull();
});

test('passkeys are offered where browsers allow them: under a name, not an address', () => {
  const at = (baseUrl: string) => hasPasskeys({ ...app.ctx, baseUrl });
  expect([at('https://id.example.com'), at('http://localhost:8080')]).toEqual([true, true]);
  expect([at('http://127.0.0.1:8080'), at('http://[::1]:8080')]).toEqual([false, false]);
});

test('over TLS every cookie is bound to this host and to TLS', async () => {
  const secure = await testApp({ baseUrl: 'https://causeway.test' });
  const { headers } = await secure.app.inject({ url: '/sign-in' });
  expect(headers['set-cookie']).toMatch(
    /^__Host-causeway=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
  await secure.close();
});
