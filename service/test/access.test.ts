import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiRoutes } from '../src/edges/routes.ts';
import { type TestApp, testApp } from './support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await testApp();
});
afterAll(() => app.close());

const guarded = apiRoutes.filter(({ access }) => access.who !== 'public');
const example = (path: string) => path.replace(/:[a-z_]+/g, '01890000-0000-7000-8000-000000000000');

describe.each(apiRoutes.map((route) => [`${route.method} ${route.path}`, route] as const))(
  '%s',
  (_name, { method, path, access }) => {
    const call = (token?: string) =>
      app.app.inject({
        method,
        url: example(path),
        headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      });

    if (access.who === 'public') {
      test('works without a token and is on the list of public routes', async () => {
        expect(PUBLIC_ROUTES).toContain(path);
        expect((await call()).statusCode).not.toBe(401);
      });
      return;
    }
    test('a missing or unknown token gives 401', async () => {
      for (const reply of [await call(), await call('unknown')])
        expect([reply.statusCode, reply.json().code]).toEqual([401, 'unauthorized']);
    });
    test('every other scope gives 403', async () => {
      const others = guarded
        .flatMap(({ access }) => (access.who === 'public' ? [] : [access.scope]))
        .filter((scope) => scope !== access.scope);
      const reply = await call(await app.tokenFor({ scopes: new Set(others) }));
      expect([reply.statusCode, reply.json().code]).toEqual([403, 'insufficient_scope']);
    });
    if (access.who !== 'user') return;
    test('a partner token gives 403', async () => {
      const reply = await call(await app.tokenFor({ userId: null }));
      expect([reply.statusCode, reply.json().code]).toEqual([403, 'user_token_required']);
    });
  },
);

/** Repeats the list of public routes on purpose, so that making a route public is a conscious decision. */
const PUBLIC_ROUTES = [
  '/health',
  '/health/ready',
  '/oauth/introspect',
  '/webhooks/identity',
  '/webhooks/documents',
];
