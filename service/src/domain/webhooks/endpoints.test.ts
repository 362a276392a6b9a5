import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Call, callAs, startWebhookNode, type WebhookNode } from '../../../test/support/webhooks.ts';

let node: WebhookNode;
let call: Call;
beforeAll(async () => {
  node = await startWebhookNode();
  call = await callAs(node);
});
afterAll(() => node.stop());

const ENDPOINTS = '/v1/webhook-endpoints';
const URL_INSIDE = 'http://127.0.0.1:49999/hooks';

describe('webhook endpoints', () => {
  test('are created with a secret that is shown once and sealed at rest', async () => {
    const { status, json } = await call('POST', ENDPOINTS, { url: URL_INSIDE, types: ['participation.*'] });
    expect(status).toBe(200);
    expect(json).toEqual({
      object: 'webhook_endpoint',
      id: expect.any(String),
      url: URL_INSIDE,
      types: ['participation.*'],
      description: null,
      state: 'enabled',
      disabled_reason: null,
      secret: expect.stringMatching(/^whsec_/),
      previous_secret_until: null,
      behind: 0,
      last_delivered_at: null,
      inserted_at: expect.any(String),
    });
    expect(Buffer.from(json.secret.slice(6), 'base64')).toHaveLength(32);
    const { secret, ...shown } = json;
    expect((await call('GET', `${ENDPOINTS}/${json.id}`)).json).toEqual(shown);
    const row = await node.ctx.db.selectFrom('webhook_endpoints').selectAll().executeTakeFirstOrThrow();
    expect(row.sealed_secret.toString('latin1')).not.toContain(secret);
    await call('DELETE', `${ENDPOINTS}/${json.id}`);
  });

  test('belong to one partner: every route answers 404 to another', async () => {
    const { json } = await call('POST', ENDPOINTS, { url: URL_INSIDE, types: ['*'] });
    const other = await callAs(node, 'partner-two');
    const path = `${ENDPOINTS}/${json.id}`;
    const replies = await Promise.all([
      other('GET', path),
      other('PATCH', path, { description: 'mine' }),
      other('PATCH', path, { url: 'http://127.0.0.1:49998/' }),
      other('DELETE', path),
      ...['rotate-secret', 'enable', 'disable', 'test'].map((action) =>
        other('POST', `${path}/${action}`, {}),
      ),
    ]);
    expect(replies.map(({ status, json }) => `${status} ${json.code}`)).toEqual(
      replies.map(() => '404 not_found'),
    );
    expect((await other('GET', ENDPOINTS)).json.data).toEqual([]);
    expect((await call('GET', path)).json.description).toBeNull();
    expect((await call('GET', `${ENDPOINTS}/nonsense`)).status).toBe(404);
    await call('DELETE', path);
    expect((await call('GET', path)).status).toBe(404);
  });

  test('a user cannot grant webhooks:write', async () => {
    const token = await node.tokenFor({});
    const reply = await node.app.inject({
      url: ENDPOINTS,
      headers: { authorization: `Bearer ${token}` },
    });
    expect([reply.statusCode, reply.json().code]).toEqual([403, 'insufficient_scope']);
  });

  test('are limited to 20 even if they are created at the same time', async () => {
    const third = await callAs(node, 'partner-three');
    const replies = await Promise.all(
      Array.from({ length: 30 }, () => third('POST', ENDPOINTS, { url: URL_INSIDE, types: ['*'] })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(20);
    const refused = replies.filter(({ status }) => status !== 200);
    expect(new Set(refused.map(({ status, json }) => `${status} ${json.code}`))).toEqual(
      new Set(['409 webhook_endpoint_limit_reached']),
    );
  });

  test.each([
    ['types', []],
    ['types', ['participation']],
    ['types', ['*.*']],
    ['types', ['wallet.bound', 'wallet.bound']],
    ['types', ['wallet.bond']],
    ['types', ['wallets.*']],
    ['types', ['constructor.*']],
    ['url', 'nonsense'],
  ])('invalid %s %j is rejected', async (field, value) => {
    const { status, json } = await call('POST', ENDPOINTS, {
      ...{ url: URL_INSIDE, types: ['*'] },
      [field]: value,
    });
    expect([status, json.code]).toEqual([422, 'validation_failed']);
  });

  test('a change to an unknown type is rejected', async () => {
    const { json } = await call('POST', ENDPOINTS, { url: URL_INSIDE, types: ['wallet.bound', 'webhook.*'] });
    const changed = await call('PATCH', `${ENDPOINTS}/${json.id}`, { types: ['wallet.bond'] });
    expect([changed.status, changed.json.errors]).toEqual([
      422,
      { types: ['"wallet.bond" is not an event type'] },
    ]);
    await call('DELETE', `${ENDPOINTS}/${json.id}`);
  });

  test('rotation keeps the previous secret for the grace period and allows one at a time', async () => {
    const { json: created } = await call('POST', ENDPOINTS, { url: URL_INSIDE, types: ['*'] });
    const rotate = (body: object) => call('POST', `${ENDPOINTS}/${created.id}/rotate-secret`, body);
    const first = await rotate({});
    expect(first.json.secret).not.toBe(created.secret);
    const hours = (Date.parse(first.json.previous_secret_until) - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(23.9);
    expect(hours).toBeLessThan(24.1);
    const second = await rotate({ grace_hours: 1 });
    expect([second.status, second.json.code]).toEqual([409, 'secret_rotation_in_progress']);
    const urgent = await rotate({ grace_hours: 0 });
    expect([urgent.status, urgent.json.previous_secret_until]).toEqual([200, null]);
    expect((await rotate({ grace_hours: 169 })).json.code).toBe('validation_failed');
    await call('DELETE', `${ENDPOINTS}/${created.id}`);
  });

  test('a disabled endpoint refuses tests until it is enabled', async () => {
    const { json } = await call('POST', ENDPOINTS, { url: URL_INSIDE, types: ['*'] });
    const path = `${ENDPOINTS}/${json.id}`;
    const disabled = await call('POST', `${path}/disable`, {});
    expect([disabled.json.state, disabled.json.disabled_reason]).toEqual(['disabled', 'requested']);
    const refused = await call('POST', `${path}/test`, {});
    expect([refused.status, refused.json.code]).toEqual([409, 'endpoint_disabled']);
    const enabled = await call('POST', `${path}/enable`, { from: 'now' });
    expect([enabled.json.state, enabled.json.disabled_reason]).toEqual(['enabled', null]);
    await call('DELETE', path);
  });
});
