import { afterAll, beforeAll, expect, test } from 'vitest';
import { landingPage } from '../src/platform/pages/landing-page.ts';
import { renderPage } from '../src/platform/pages/layout.ts';
import { type TestApp, testApp } from './support/app.ts';

let node: TestApp;
beforeAll(async () => {
  node = await testApp();
});
afterAll(() => node.close());

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const get = (url: string, accept?: string) =>
  node.app.inject({ url, headers: accept === undefined ? {} : { accept } });

test('a browser gets a landing page at / and a page for unknown addresses', async () => {
  const landing = await get('/', BROWSER);
  expect([landing.statusCode, landing.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
  expect(landing.body).toContain('href="/docs"');
  expect(landing.headers['content-security-policy']).toContain("frame-ancestors 'none'");
  for (const path of ['/nothing', '/nothing/here?x=1', '/v12', '/oauthx', '/sandbox/nothing']) {
    const page = await get(path, BROWSER);
    expect([path, page.statusCode, page.headers['content-type']]).toEqual([
      path,
      404,
      'text/html; charset=utf-8',
    ]);
    expect(page.body).toContain('Page not found');
    expect(page.headers['x-request-id']).toEqual(expect.any(String));
  }
});

test.each([
  ['/v1', BROWSER],
  ['/v1/nothing', BROWSER],
  ['/oauth/nothing', BROWSER],
  ['/webhooks/nothing', BROWSER],
  ['/', undefined],
  ['/', 'application/json'],
  ['/nothing', '*/*'],
  ['/nothing', 'application/json, text/html;q=0'],
])('%s with Accept %s gets the error object', async (path, accept) => {
  const reply = await get(path, accept);
  expect(reply.statusCode).toBe(404);
  expect(reply.json()).toMatchObject({
    message: expect.any(String),
    type: 'api_error',
    code: 'not_found',
    errors: {},
    event_id: reply.headers['x-request-id'],
  });
});

test('a wrong method and a known path keep the error object for browsers', async () => {
  const reply = await node.app.inject({ method: 'DELETE', url: '/nothing', headers: { accept: BROWSER } });
  expect([reply.statusCode, reply.json().code]).toEqual([404, 'not_found']);
  const known = await node.app.inject({ url: '/oauth/token', headers: { accept: BROWSER } });
  expect([known.statusCode, known.json().code]).toEqual([405, 'method_not_allowed']);
});

test('the page of a sandbox links everything a visitor needs, and escapes what it shows', () => {
  const markup = renderPage(
    landingPage('http://127.0.0.1:8080', {
      demoUrl: 'http://localhost:3000',
      accountUrl: 'http://localhost:8080',
      users: [{ email: 'ada@sandbox.test', password: '<secret>', note: 'a person' }],
    }),
  );
  for (const href of [
    'http://localhost:3000',
    '/docs',
    'http://localhost:3000/mail',
    '/sandbox',
    '/health/ready',
    'http://localhost:8080/account',
  ])
    expect(markup).toContain(`href="${href}"`);
  expect(markup).toContain('ada@sandbox.test');
  expect(markup).toContain('&lt;secret&gt;');
});
