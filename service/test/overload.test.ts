import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { redactText } from '../src/log.ts';
import { createTestDatabase, type TestDatabase } from './setup/database.ts';
import { type TestApp, testApp } from './support/app.ts';

let database: TestDatabase;
let app: TestApp;
beforeAll(async () => {
  database = await createTestDatabase();
  app = await testApp({ databaseUrl: database.url });
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

const introspect = (body: Record<string, unknown>) =>
  app.app.inject({ method: 'POST', url: '/oauth/introspect', payload: body });
const members = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`unknown_${i}`, i]));

describe('cost of hostile input', () => {
  test('a body with more than 500 members is refused with a short reply', async () => {
    const reply = await introspect({ token: 'x', ...members(500) });
    expect(reply.statusCode).toBe(400);
    expect(reply.json().code).toBe('malformed_request');
    expect(reply.body.length).toBeLessThan(1_000);
  });

  test('members of nested objects count too', async () => {
    const reply = await introspect({ token: { a: members(300), b: members(300) } });
    expect([reply.statusCode, reply.json().code]).toEqual([400, 'malformed_request']);
  });

  test('at most 20 problems of a body are reported', async () => {
    const reply = await introspect({ token: 'x', ...members(400) });
    expect([400, 422]).toContain(reply.statusCode);
    expect(Object.keys(reply.json().errors).length).toBeLessThanOrEqual(20);
  });

  test('a query of 200 pairs is read, one of 201 is refused', async () => {
    const query = (count: number) => Array.from({ length: count }, () => 'a=1').join('&');
    expect((await app.app.inject(`/health?${query(200)}`)).statusCode).toBe(200);
    const refused = await app.app.inject(`/health?${query(201)}`);
    expect([refused.statusCode, refused.json().code]).toEqual([400, 'malformed_request']);
  });

  test('email addresses are redacted wherever a word can begin', () => {
    const text = 'to:ada@user.test (bob@user.test) <eve@user.test>,mail=zoe@user.test';
    expect(redactText(text)).not.toMatch(/user\.test/);
    expect(redactText('x'.repeat(100_000))).toHaveLength(100_000);
  });
});

test('a lost database answers 503 unavailable with Retry-After, and the reply names no internals', async () => {
  const token = await app.tokenFor();
  await database.drop();
  for (let attempt = 0; attempt < 3; attempt++) {
    const reply = await app.app.inject({
      url: '/v1/participations',
      headers: { authorization: `Bearer ${token}` },
    });
    expect([reply.statusCode, reply.json().code]).toEqual([503, 'unavailable']);
    expect(reply.headers['retry-after']).toMatch(/^\d+$/);
    expect(reply.body).not.toMatch(/postgres|database|terminat/i);
  }
});
