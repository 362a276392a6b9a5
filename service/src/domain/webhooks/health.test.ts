import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { partnerOf } from '../../../test/support/tokens.ts';
import {
  type Call,
  callAs,
  type Receiver,
  startReceiver,
  startWebhookNode,
  type WebhookNode,
} from '../../../test/support/webhooks.ts';
import { appendEvents } from '../../platform/events/event.ts';
import type { Mail } from '../../platform/mail/mail.ts';
import { setContact } from '../partners/partner.ts';
import { noteFailure } from './deliver.ts';
import { countFailure } from './endpoint-store.ts';

const PARTNER = partnerOf('partner-one');
const ENDPOINTS = '/v1/webhook-endpoints';
let node: WebhookNode;
let call: Call;
let receiver: Receiver;
let status = 200;

beforeAll(async () => {
  node = await startWebhookNode();
  call = await callAs(node);
  await setContact(node.ctx, 'partner-one', 'integrations@acme.test');
});
afterAll(() => node.stop());
beforeEach(async () => {
  receiver = await startReceiver();
  receiver.answer((_webhook, response) => void response.writeHead(status).end());
  await sql`truncate mail_outbox`.execute(node.ctx.db);
});
afterEach(async () => {
  for (const { id } of (await call('GET', `${ENDPOINTS}?limit=100`)).json.data)
    await call('DELETE', `${ENDPOINTS}/${id}`);
  await receiver.close();
});

const create = async (): Promise<string> =>
  (await call('POST', ENDPOINTS, { url: receiver.url, types: ['offer.*'] })).json.id;
const append = (count: number) =>
  node.ctx.db.transaction().execute((tx) =>
    appendEvents(
      node.ctx,
      tx,
      Array.from({ length: count }, (_, n) => ({
        ...{ partnerId: PARTNER, userId: null, type: 'offer.published' },
        data: { object: 'offer', id: `offer ${n}` },
      })),
    ),
  );
const until = (check: () => unknown) => expect.poll(check, { timeout: 15_000, interval: 20 });
const read = async (id: string) => (await call('GET', `${ENDPOINTS}/${id}`)).json;
const stateOf = async (id: string) => {
  const { state, disabled_reason } = await read(id);
  return [state, disabled_reason];
};
const mails = async (): Promise<Mail[]> =>
  (await node.ctx.db.selectFrom('mail_outbox').selectAll().orderBy('id').execute()).map(({ id, mail }) =>
    JSON.parse(node.ctx.sealing.open('mail', mail, id).toString()),
  );
const events = async (endpoint: string) =>
  (
    await call(
      'GET',
      `/v1/events?filters[0][field]=subject_id&filters[0][op]=%3D%3D&filters[0][value]=${endpoint}`,
    )
  ).json.data;
const retryNow = () =>
  sql`update webhook_deliveries set next_attempt_at = now() where state = 'pending'`.execute(node.ctx.db);
const idle = async () =>
  until(async () => {
    const open = await sql`select from webhook_deliveries where lease_until > now()`.execute(node.ctx.db);
    return open.rows.length;
  }).toBe(0);

test('410 disables the endpoint immediately, with one mail and one event however many attempts see it', async () => {
  const id = await create();
  status = 410;
  const sent = await append(40);
  await until(() => stateOf(id)).toEqual(['disabled', 'gone']);
  await idle();
  const [mail, ...more] = await mails();
  expect([mail?.to, mail?.subject, more]).toEqual([
    'integrations@acme.test',
    'Webhook endpoint disabled',
    [],
  ]);
  expect(mail?.text).toContain(receiver.url);
  expect((await events(id)).map(({ type, data }: { type: string; data: object }) => [type, data])).toEqual([
    ['webhook_endpoint.disabled', { object: 'webhook_endpoint', id, disabled_reason: 'gone' }],
  ]);
  status = 200;
  receiver.received.length = 0;
  await call('POST', `${ENDPOINTS}/${id}/enable`, {});
  await until(() => new Set(receiver.received.map(({ headers }) => headers['webhook-id']))).toEqual(
    new Set(sent),
  );
  await until(async () => (await events(id)).map(({ type }: { type: string }) => type)).toEqual([
    'webhook_endpoint.recovered',
    'webhook_endpoint.disabled',
  ]);
  expect(await stateOf(id)).toEqual(['enabled', null]);
});

test('500 failures at once disable the endpoint with one mail and one event', async () => {
  const id = await create();
  const fail = () =>
    node.ctx.db.transaction().execute(async (tx) => {
      const health = await countFailure(tx, id);
      if (health === undefined) throw new Error('the endpoint is gone');
      const delivery = { endpoint_id: id, partner_id: PARTNER };
      await noteFailure(node.ctx, tx, delivery, health, { isGone: true, isExhausted: true });
    });
  await Promise.all(Array.from({ length: 500 }, fail));
  expect((await mails()).map(({ subject }) => subject)).toEqual(['Webhook endpoint disabled']);
  expect((await events(id)).map(({ type }: { type: string }) => type)).toEqual(['webhook_endpoint.disabled']);
});

test('disables after 5 days without a success and 20 failures, not after one of them alone, with one mail', async () => {
  const id = await create();
  status = 500;
  await append(30);
  await until(() => receiver.received.length).toBe(30);
  await idle();
  expect(await stateOf(id)).toEqual(['enabled', null]);
  await sql`update webhook_endpoints set failing_since = now() - interval '7 days', failures = 5
    where id = ${id}`.execute(node.ctx.db);
  await sql`update webhook_deliveries set next_attempt_at = now() where id = (
    select id from webhook_deliveries where endpoint_id = ${id} and state = 'pending' limit 1)`.execute(
    node.ctx.db,
  );
  await until(() => receiver.received.length).toBe(31);
  await idle();
  expect(await stateOf(id)).toEqual(['enabled', null]);
  await retryNow();
  await until(() => stateOf(id)).toEqual(['disabled', 'failing']);
  await idle();
  expect((await mails()).map(({ subject }) => subject)).toEqual(['Webhook endpoint disabled']);
  expect(
    (await events(id)).map(({ data }: { data: { disabled_reason: string } }) => data.disabled_reason),
  ).toEqual(['failing']);
});

test('an event that exhausts its retries makes the endpoint failing, with one mail, until an attempt succeeds', async () => {
  const id = await create();
  status = 500;
  await append(10);
  await until(() => receiver.received.length).toBe(10);
  await idle();
  await sql`update webhook_deliveries set retry_until = now(), next_attempt_at = now() where endpoint_id = ${id}`.execute(
    node.ctx.db,
  );
  await until(() => stateOf(id)).toEqual(['failing', null]);
  await until(() => receiver.received.length).toBe(20);
  await idle();
  expect((await mails()).map(({ subject }) => subject)).toEqual(['Webhook endpoint failing']);
  status = 200;
  await append(1);
  await until(() => stateOf(id)).toEqual(['enabled', null]);
  expect((await events(id)).map(({ type }: { type: string }) => type)).toEqual([
    'webhook_endpoint.recovered',
  ]);
});

test('records every attempt while the endpoint is disabled and enabled', async () => {
  const id = await create();
  status = 500;
  await append(60);
  for (let round = 0; round < 15; round++) {
    await call('POST', `${ENDPOINTS}/${id}/disable`, {});
    await call('POST', `${ENDPOINTS}/${id}/enable`, {});
  }
  await until(() => receiver.received.length).toBeGreaterThan(100);
  await idle();
  expect(node.logged()).not.toContain('recording a webhook attempt failed');
});

test('an attempt that fails after the endpoint was enabled again is planned again', async () => {
  const id = await create();
  const answers: (() => void)[] = [];
  receiver.answer((_webhook, response) => void answers.push(() => response.writeHead(500).end()));
  await append(1);
  await until(() => answers.length).toBe(1);
  await call('POST', `${ENDPOINTS}/${id}/disable`, {});
  await call('POST', `${ENDPOINTS}/${id}/enable`, {});
  answers[0]?.();
  await idle();
});

test('a success that arrives after the endpoint was disabled reports no recovery', async () => {
  const id = await create();
  const answers: (() => void)[] = [];
  receiver.answer((_webhook, response) => void answers.push(() => response.writeHead(200).end()));
  await append(1);
  await until(() => answers.length).toBe(1);
  await sql`update webhook_endpoints set state = 'disabled', disabled_reason = 'gone', problem_reported = true
    where id = ${id}`.execute(node.ctx.db);
  answers[0]?.();
  await idle();
  expect(await events(id)).toEqual([]);
  expect(await stateOf(id)).toEqual(['disabled', 'gone']);
  receiver.answer((_webhook, response) => void response.writeHead(200).end());
  await call('POST', `${ENDPOINTS}/${id}/enable`, {});
  await append(1);
  await until(async () => (await events(id)).map(({ type }: { type: string }) => type)).toEqual([
    'webhook_endpoint.recovered',
  ]);
});
