import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiRoutes } from '../src/routes.ts';
import { type TestApp, testApp } from './support/app.ts';

let one: TestApp;
beforeAll(async () => {
  one = await testApp();
});
afterAll(() => one.close());

const guarded = apiRoutes.filter(({ access }) => access.who !== 'public');
const example = (path: string) => path.replace(/:[a-z_]+/g, '01890000-0000-7000-8000-000000000000');

describe.each(apiRoutes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_name, { method, path, access }) => {
    const call = (token?: string) =>
      one.app.inject({
        method,
        url: example(path),
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });

    if (access.who === 'public') {
      test('answers without a token, and is on the list of those that may', async () => {
        expect(PUBLIC).toContain(path);
        expect((await call()).statusCode).not.toBe(401);
      });
      return;
    }
    test('no token, and a token of nobody, are 401', async () => {
      for (const reply of [await call(), await call('nobody')])
        expect([reply.statusCode, reply.json().code]).toEqual([401, 'unauthorized']);
    });
    test('every scope but its own is 403', async () => {
      const others = guarded
        .flatMap(({ access }) => (access.who === 'public' ? [] : [access.scope]))
        .filter((scope) => scope !== access.scope);
      const reply = await call(await one.tokenFor({ scopes: new Set(others) }));
      expect([reply.statusCode, reply.json().code]).toEqual([403, 'insufficient_scope']);
    });
    if (access.who !== 'user') return;
    test('a partner token is 403', async () => {
      const reply = await call(await one.tokenFor({ userId: null }));
      expect([reply.statusCode, reply.json().code]).toEqual([403, 'user_token_required']);
    });
  },
);

/** A public route is a decision: it is made here as well as at its declaration. */
const PUBLIC = ['/health', '/health/ready', '/oauth/introspect', '/webhooks/identity', '/webhooks/documents'];
