import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeUser, partnerOf, USER } from '../../../test/support/tokens.ts';
import {
  type Call,
  callAs,
  type Receiver,
  startReceiver,
  startWebhookNode,
  type WebhookNode,
} from '../../../test/support/webhooks.ts';
import { runHousekeeping } from '../../edges/housekeeping.ts';
import { newId } from '../../kernel/ids.ts';
import { appendEvents } from '../../platform/events/event.ts';

const PARTNER = partnerOf('partner-one');
const ENDPOINTS = '/v1/webhook-endpoints';
const DELIVERIES = '/v1/webhook-deliveries';
let node: WebhookNode;
let call: Call;
let receiver: Receiver;
let status = 200;

beforeAll(async () => {
  node = await startWebhookNode();
  call = await callAs(node);
});
afterAll(() => node.stop());
beforeEach(async () => {
  receiver = await startReceiver();
  status = 200;
  receiver.answer((_webhook, response) => void response.writeHead(status).end('<b>hello\u0000</b>'));
});
afterEach(async () => {
  for (const { id } of (await call('GET', `${ENDPOINTS}?limit=100`)).json.data)
    await call('DELETE', `${ENDPOINTS}/${id}`);
  await receiver.close();
});

const create = async (types = ['*']): Promise<string> =>
  (await call('POST', ENDPOINTS, { url: receiver.url, types })).json.id;
const append = (subject: string, userId: string | null = null) =>
  node.ctx.db.transaction().execute(async (tx) => {
    const type = userId === null ? 'offer.published' : 'participation.pending';
    const data = { object: 'offer', id: subject };
    return (await appendEvents(node.ctx, tx, [{ partnerId: PARTNER, userId, type, data }]))[0] as string;
  });
const until = (check: () => unknown) => expect.poll(check, { timeout: 15_000, interval: 20 });
const ids = () => receiver.received.map(({ headers }) => headers['webhook-id']);
const list = async (id: string, query = '') =>
  (await call('GET', `${ENDPOINTS}/${id}/deliveries?${query}`)).json;
const stateOf = async (id: string) => (await call('GET', `${DELIVERIES}/${id}`)).json.state;
/** Appends an event, puts its delivery into `state`, and returns the id of the delivery. */
async function deliveryIn(endpoint: string, state: string, subject = 'a'): Promise<string> {
  status = state === 'delivered' ? 200 : 500;
  const event = await append(subject);
  const find = async () => (await list(endpoint, `${FILTER('event_id')}${event}`)).data[0];
  await until(async () => (await find())?.last_attempt).toBeTruthy();
  const { id } = await find();
  if (state === 'failed' || state === 'skipped')
    await sql`update webhook_deliveries set state = ${state}, next_attempt_at = null where id = ${id}`.execute(
      node.ctx.db,
    );
  expect(await stateOf(id)).toBe(state);
  return id;
}
const FILTER = (field: string) => `filters[0][field]=${field}&filters[0][op]=%3D%3D&filters[0][value]=`;

describe('the delivery log', () => {
  test('shows deliveries and their attempts as the contract says', async () => {
    const endpoint = await create();
    const id = await deliveryIn(endpoint, 'pending');
    const { status: code, json } = await call('GET', `${DELIVERIES}/${id}`);
    expect(code).toBe(200);
    const attempt = {
      ...{ object: 'webhook_attempt', id: expect.any(String), kind: 'scheduled', status: 500, error: null },
      ...{ at: expect.stringMatching(/\.\d{6}Z$/), duration_ms: expect.any(Number) },
      ...{ address: '127.0.0.1', response: '<b>hello</b>' },
    };
    expect(json).toEqual({
      ...{
        object: 'webhook_delivery',
        id,
        endpoint_id: endpoint,
        event_id: ids()[0],
        type: 'offer.published',
      },
      ...{ state: 'pending', attempts: 1, next_attempt_at: expect.stringMatching(/\.\d{6}Z$/) },
      ...{ last_attempt: attempt, inserted_at: expect.any(String) },
    });
    expect((await list(endpoint)).data).toEqual([json]);
    const attempts = await call('GET', `${DELIVERIES}/${id}/attempts`);
    expect(attempts.json).toEqual({ object: 'list', data: [attempt] });
  });

  test('is paged newest first and filtered by state and event', async () => {
    const endpoint = await create();
    const delivered = [];
    for (const subject of ['a', 'b', 'c'])
      delivered.unshift(await deliveryIn(endpoint, 'delivered', subject));
    const waiting = await deliveryIn(endpoint, 'pending', 'd');
    const page = await list(endpoint, 'limit=2');
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual([waiting, delivered[0]]);
    const next = await list(endpoint, `limit=2&starting_after=${page.starting_after}`);
    expect(next.data.map(({ id }: { id: string }) => id)).toEqual(delivered.slice(1));
    expect((await list(endpoint, `${FILTER('state')}pending`)).data).toHaveLength(1);
    expect((await list(endpoint, `${FILTER('event_id')}nonsense`)).data).toEqual([]);
    expect((await list(endpoint, `${FILTER('url')}x`)).code).toBe('validation_failed');
  });

  test('belongs to one partner: every route answers 404 to another', async () => {
    const endpoint = await create();
    const id = await deliveryIn(endpoint, 'delivered');
    const other = await callAs(node, 'partner-two');
    const since = '2020-01-01T00:00:00Z';
    const replies = await Promise.all([
      other('GET', `${ENDPOINTS}/${endpoint}/deliveries`),
      other('POST', `${ENDPOINTS}/${endpoint}/recover`, { since }),
      other('GET', `${DELIVERIES}/${id}`),
      other('GET', `${DELIVERIES}/${id}/attempts`),
      other('POST', `${DELIVERIES}/${id}/resend`, {}),
      call('GET', `${DELIVERIES}/nonsense`),
      call('POST', `${DELIVERIES}/nonsense/resend`, {}),
      call('GET', `${ENDPOINTS}/nonsense/deliveries`),
    ]);
    expect(replies.map(({ status, json }) => `${status} ${json.code}`)).toEqual(
      replies.map(() => '404 not_found'),
    );
    expect(receiver.received).toHaveLength(1);
  });
});

describe('a resend', () => {
  test.each(['pending', 'delivered', 'failed', 'skipped'])(
    'of a %s delivery makes one attempt with the same id and bytes, and leaves the health alone',
    async (state) => {
      const endpoint = await create();
      const id = await deliveryIn(endpoint, state);
      const before = await call('GET', `${ENDPOINTS}/${endpoint}`);
      status = 500;
      const reply = await call('POST', `${DELIVERIES}/${id}/resend`, {});
      expect([reply.status, reply.json.object, reply.json.state]).toEqual([200, 'webhook_delivery', state]);
      await until(() => receiver.received.length).toBe(2);
      expect(new Set(ids()).size).toBe(1);
      expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
      await until(async () => (await call('GET', `${DELIVERIES}/${id}/attempts`)).json.data[0].kind).toBe(
        'resend',
      );
      expect(await stateOf(id)).toBe(state);
      expect((await call('GET', `${ENDPOINTS}/${endpoint}`)).json).toEqual(before.json);
      status = 200;
      await call('POST', `${DELIVERIES}/${id}/resend`, {});
      await until(() => receiver.received.length).toBe(3);
      await until(() => stateOf(id)).toBe('delivered');
    },
  );

  test('that is requested while another one is being sent follows it, and several requests make one', async () => {
    const endpoint = await create();
    const id = await deliveryIn(endpoint, 'delivered');
    const [event] = ids();
    const held: (() => void)[] = [];
    let most = 0;
    receiver.answer(({ headers }, response) => {
      if (headers['webhook-id'] !== event) return void response.end();
      held.push(() => void response.end());
      most = Math.max(most, held.length);
    });
    const resend = () => call('POST', `${DELIVERIES}/${id}/resend`, {});
    /** Waits until the worker has looked for work again. */
    const nextRound = async () => {
      const other = await append(`round ${receiver.received.length}`);
      await until(() => ids()).toContain(other);
    };
    await resend();
    await until(() => held.length).toBe(1);
    for (let n = 0; n < 3; n++) await resend();
    await nextRound();
    expect(held).toHaveLength(1);
    held.shift()?.();
    await until(() => held.length).toBe(1);
    held.shift()?.();
    await until(async () => (await call('GET', `${DELIVERIES}/${id}`)).json.attempts).toBe(3);
    await until(async () => (await call('GET', `${DELIVERIES}/${id}/attempts`)).json.data.length).toBe(3);
    await nextRound();
    expect([held.length, most]).toEqual([0, 1]);
  });

  test('of a disabled endpoint is refused', async () => {
    const endpoint = await create();
    const id = await deliveryIn(endpoint, 'delivered');
    await call('POST', `${ENDPOINTS}/${endpoint}/disable`, {});
    const reply = await call('POST', `${DELIVERIES}/${id}/resend`, {});
    expect([reply.status, reply.json.code]).toEqual([409, 'endpoint_disabled']);
  });

  test('whose sender died is made again after its lease', async () => {
    const endpoint = await create();
    const id = await deliveryIn(endpoint, 'delivered');
    // Puts the row into the state it has if the process dies after the claim but before recording the attempt.
    await sql`update webhook_deliveries set resend_requested = true, resend_lease_until = now() + interval '1 second'
      where id = ${id}`.execute(node.ctx.db);
    await until(() => receiver.received.length).toBe(2);
  });

  test('redacts an event that the user no longer allows the partner to read', async () => {
    const endpoint = await create();
    await makeUser(node.ctx, USER);
    await node.tokenFor();
    await append('secret', USER);
    await until(() => receiver.received.length).toBe(1);
    const [delivery] = (await list(endpoint)).data;
    expect(delivery.type).toBe('participation.pending');
    await sql`update oauth_grants set revoked_at = now() where user_id = ${USER}`.execute(node.ctx.db);
    await call('POST', `${DELIVERIES}/${delivery.id}/resend`, {});
    await until(() => receiver.received.length).toBe(2);
    const bodies = receiver.received.map(({ body }) => JSON.parse(body));
    expect(bodies.map(({ type, user_id }) => [type, user_id])).toEqual([
      ['participation.pending', USER],
      ['redacted', null],
    ]);
    expect(receiver.received[1]?.body).not.toContain('secret');
    expect((await list(endpoint)).data[0].type).toBe('redacted');
    await sql`update oauth_grants set revoked_at = null where user_id = ${USER}`.execute(node.ctx.db);
  });
});

describe('recovery', () => {
  const recover = (endpoint: string, body: object) => call('POST', `${ENDPOINTS}/${endpoint}/recover`, body);
  const now = () => new Date(node.clock.now()).toISOString();

  test('sends failed, skipped and passed-over events of the range again, and no others', async () => {
    const endpoint = await create();
    await deliveryIn(endpoint, 'delivered', 'early');
    node.clock.advance(60);
    const since = now();
    const failed = await deliveryIn(endpoint, 'failed', 'b');
    const skipped = await deliveryIn(endpoint, 'skipped', 'c');
    await deliveryIn(endpoint, 'delivered', 'd');
    await call('POST', `${ENDPOINTS}/${endpoint}/disable`, {});
    const passed = await append('passed over');
    expect((await recover(endpoint, { since })).json.code).toBe('endpoint_disabled');
    await call('POST', `${ENDPOINTS}/${endpoint}/enable`, { from: 'now' });
    node.clock.advance(60);
    const until60 = now();
    node.clock.advance(60);
    await deliveryIn(endpoint, 'failed', 'late');
    status = 200;
    receiver.received.length = 0;
    const reply = await recover(endpoint, { since, until: until60 });
    expect([reply.status, reply.json]).toEqual([
      200,
      { object: 'webhook_recovery', endpoint_id: endpoint, deliveries: 3 },
    ]);
    await until(() => receiver.received.length).toBe(3);
    await until(async () => [await stateOf(failed), await stateOf(skipped)]).toEqual([
      'delivered',
      'delivered',
    ]);
    expect(ids()).toContain(passed);
    expect((await recover(endpoint, { since, until: until60 })).json.deliveries).toBe(0);
    expect((await recover(endpoint, { since })).json.deliveries).toBe(1);
  });

  test('leaves out delivered events whose delivery is no longer in the log', async () => {
    const endpoint = await create();
    const since = now();
    await deliveryIn(endpoint, 'delivered', 'old');
    node.clock.advance(20 * 86_400);
    await call('POST', `${ENDPOINTS}/${endpoint}/disable`, {});
    const passed = await append('passed over');
    await call('POST', `${ENDPOINTS}/${endpoint}/enable`, { from: 'now' });
    node.clock.advance(11 * 86_400);
    await runHousekeeping(node.ctx);
    receiver.received.length = 0;
    expect((await recover(endpoint, { since })).json.deliveries).toBe(1);
    await until(ids).toEqual([passed]);
  });

  test.each([
    [{}],
    [{ since: 'yesterday' }],
    [{ since: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' }],
    [{ since: '2999-01-01T00:00:00Z' }],
    [{ since: '2026-01-02T00:00:00Z', types: ['*'] }],
  ])('refuses %j', async (body) => {
    const endpoint = await create();
    const { status, json } = await recover(endpoint, body);
    expect([status, json.code]).toEqual([422, 'validation_failed']);
  });

  test('accepts times at the ends of the calendar', async () => {
    const range = { since: '0001-01-01T00:00:00Z', until: '9999-12-31T23:59:59Z' };
    expect((await recover(await create(), range)).status).toBe(200);
  });

  test('of more than 10,000 events is refused and changes nothing', async () => {
    const endpoint = await create();
    node.clock.advance(60);
    // An id begins with its creation time.
    const time = newId(node.ctx.clock, node.ctx.random).slice(0, 15);
    await sql`insert into events (id, partner_id, type, data, inserted_at, position, sequence)
      select overlay(gen_random_uuid()::text placing ${time} from 1 for 15)::uuid, ${PARTNER}, 'offer.published', '{}',
        ${now()}::timestamptz, 10000000 + i, 10000000 + i
      from generate_series(1, 10001) i`.execute(node.ctx.db);
    await sql`update webhook_endpoints set cursor = 20000000 where id = ${endpoint}`.execute(node.ctx.db);
    const { status, json } = await recover(endpoint, { since: now() });
    expect([status, json.code, Object.keys(json.errors)]).toEqual([422, 'validation_failed', ['since']]);
    expect((await list(endpoint)).data).toEqual([]);
    await sql`delete from events where sequence > 10000000`.execute(node.ctx.db);
  });
});

test('housekeeping deletes old deliveries, those without an event, and deleted endpoints', async () => {
  const endpoint = await create();
  const old = await deliveryIn(endpoint, 'delivered', 'a');
  const waiting = await deliveryIn(endpoint, 'pending', 'b');
  node.clock.advance(31 * 86_400);
  const recent = await deliveryIn(endpoint, 'delivered', 'c');
  const orphan = await deliveryIn(endpoint, 'pending', 'd');
  await sql`delete from events e using webhook_deliveries d where d.id = ${orphan} and e.id = d.event_id`.execute(
    node.ctx.db,
  );
  await runHousekeeping(node.ctx);
  const { rows } = await sql<{ id: string }>`select id from webhook_deliveries where endpoint_id = ${endpoint}
    order by sequence`.execute(node.ctx.db);
  expect(rows.map(({ id }) => id)).toEqual([waiting, recent]);
  expect((await call('GET', `/v1/webhook-deliveries/${old}/attempts`)).status).toBe(404);
  await call('DELETE', `${ENDPOINTS}/${endpoint}`);
  await sql`update webhook_endpoints set deleted_at = now() - interval '2 days' where id = ${endpoint}`.execute(
    node.ctx.db,
  );
  await runHousekeeping(node.ctx);
  const gone = await sql`select from webhook_endpoints where id = ${endpoint}`.execute(node.ctx.db);
  expect(gone.rows).toEqual([]);
});
