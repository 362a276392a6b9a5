import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { partnerOf, USER } from '../../../test/support/tokens.ts';
import {
  type Call,
  callAs,
  type ReceivedWebhook,
  type Receiver,
  startReceiver,
  startWebhookNode,
  type WebhookNode,
} from '../../../test/support/webhooks.ts';
import { SCOPES } from '../../kernel/access.ts';
import { appendEvents } from '../../platform/events/event.ts';
import { placeEvents } from '../../platform/events/store.ts';
import { setScopes } from '../partners/partner.ts';
import { createDeliveries } from './deliver.ts';

const PARTNER = partnerOf('partner-one');
const ENDPOINTS = '/v1/webhook-endpoints';
let node: WebhookNode;
let call: Call;
let receiver: Receiver;

beforeAll(async () => {
  node = await startWebhookNode();
  call = await callAs(node);
});
afterAll(() => node.stop());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  for (const { id } of (await call('GET', `${ENDPOINTS}?limit=100`)).json.data)
    await call('DELETE', `${ENDPOINTS}/${id}`);
  await receiver.close();
});

const create = async (types = ['*'], url = receiver.url) =>
  (await call('POST', ENDPOINTS, { url, types })).json as { id: string; secret: string };
const append = (...subjects: string[]) =>
  node.ctx.db.transaction().execute((tx) =>
    appendEvents(
      node.ctx,
      tx,
      subjects.map((id, n) => ({
        ...{ partnerId: PARTNER, userId: null, type: 'offer.published' },
        data: { object: 'offer', id, n },
      })),
    ),
  );
const until = (check: () => unknown) => expect.poll(check, { timeout: 15_000, interval: 20 });
const ids = () => receiver.received.map(({ headers }) => headers['webhook-id']);
const retryNow = () =>
  sql`update webhook_deliveries set next_attempt_at = now() where state = 'pending'`.execute(node.ctx.db);

function isSignedWith(secret: string, { headers, body }: ReceivedWebhook): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.from(secret.slice(6), 'base64');
  const expected = `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
  return String(headers['webhook-signature']).split(' ').includes(expected);
}

test('delivers each event once, in order, signed, as the list shows it, stamped with real time', async () => {
  const { secret, id } = await create();
  const events = await append('a', 'b', 'c');
  await until(() => ids()).toEqual(events);
  for (const webhook of receiver.received) {
    expect(isSignedWith(secret, webhook)).toBe(true);
    expect(Math.abs(Number(webhook.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
    expect(webhook.headers['content-type']).toBe('application/json');
    const body = JSON.parse(webhook.body);
    expect(body).toMatchObject({
      object: 'event',
      id: webhook.headers['webhook-id'],
      type: 'offer.published',
    });
    expect(body.sequence).toBeGreaterThan(0);
  }
  await until(async () => (await call('GET', `${ENDPOINTS}/${id}`)).json.behind).toBe(0);
  expect((await call('GET', `${ENDPOINTS}/${id}`)).json.last_delivered_at).not.toBeNull();
});

test('sends only the wanted types, and a test event whatever the types', async () => {
  const { id } = await create(['participation.*', 'wallet.bound']);
  await append('unwanted');
  const { json } = await call('POST', `${ENDPOINTS}/${id}/test`, {});
  await until(() => ids()).toEqual([json.event_id]);
  expect(JSON.parse(String(receiver.received[0]?.body))).toMatchObject({ type: 'webhook.test' });
});

test('retries the same bytes with a new timestamp until a 2xx, and follows no redirect', async () => {
  const { id, secret } = await create();
  const target = await startReceiver();
  const answers = [500, 302, 404];
  receiver.answer((_webhook, response) => {
    const status = answers.shift() ?? 204;
    response.writeHead(status, status === 302 ? { location: target.url } : {}).end();
  });
  const [event] = await append('a');
  for (let attempt = 1; attempt <= 4; attempt++) {
    await until(() => receiver.received.length).toBe(attempt);
    await until(async () => {
      const row = await node.ctx.db
        .selectFrom('webhook_deliveries')
        .select(['state', 'lease_until'])
        .where('event_id', '=', String(event))
        .executeTakeFirst();
      return row?.state === 'delivered' || row?.lease_until === null;
    }).toBe(true);
    await retryNow();
  }
  await sleep(300);
  expect(receiver.received).toHaveLength(4);
  expect(new Set(ids())).toEqual(new Set([event]));
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(receiver.received.every((webhook) => isSignedWith(secret, webhook))).toBe(true);
  expect(target.received).toEqual([]);
  await until(async () => (await call('GET', `${ENDPOINTS}/${id}`)).json.behind).toBe(0);
  await target.close();
});

test('Retry-After doubles the delay of a retry, however long it is', async () => {
  const { id } = await create();
  receiver.answer((_webhook, response) => void response.writeHead(429, { 'retry-after': '86400' }).end());
  await append('a');
  const find = async () => (await call('GET', `${ENDPOINTS}/${id}/deliveries`)).json.data[0];
  await until(async () => (await find())?.last_attempt?.status).toBe(429);
  const { next_attempt_at, last_attempt } = await find();
  const delayMs = Date.parse(next_attempt_at) - Date.parse(last_attempt.at);
  // `Retry-After` can at most double the first delay, which is 5 seconds, give or take 20 percent.
  expect(delayMs).toBeGreaterThanOrEqual(2 * 4_000);
  expect(delayMs).toBeLessThan(3_600_000);
});

test('a retry is redacted if the partner has lost the scope since, even if it has the scope again', async () => {
  await node.tokenFor({ scopes: new Set(['wallets:read']) });
  await create();
  receiver.answer((_webhook, response) => void response.writeHead(503).end());
  const event = { partnerId: PARTNER, userId: USER, type: 'wallet.bound', data: { id: 'w' } };
  await appendEvents(node.ctx, node.ctx.db, [event]);
  const received = () => receiver.received.map(({ body }) => JSON.parse(body).type);
  await until(received).toEqual(['wallet.bound']);
  for (const lost of ['wallets:read', 'none']) {
    const scopes = Object.keys(SCOPES).filter((scope) => scope !== lost);
    await setScopes(node.ctx, 'partner-one', scopes);
    const before = receiver.received.length;
    await until(async () => {
      await retryNow();
      return received().slice(before)[0];
    }).toBe('redacted');
  }
});

test('a failed event holds back later events of its subject and no others', async () => {
  await create();
  let isBroken = true;
  receiver.answer(({ body }, response) => {
    response.writeHead(isBroken && JSON.parse(body).data.id === 'a' ? 500 : 200).end();
  });
  const [a1, b1, a2, b2] = await append('a', 'b', 'a', 'b');
  await until(() => ids()).toEqual([a1, b1, b2]);
  await sleep(700);
  expect(ids()).not.toContain(a2);
  isBroken = false;
  await retryNow();
  await until(() => ids()).toEqual([a1, b1, b2, a1, a2]);
});

test('a long queue behind a failed event holds back no other subject', async () => {
  await create();
  receiver.answer(({ body }, response) => {
    response.writeHead(JSON.parse(body).data.id === 'stuck' ? 500 : 200).end();
  });
  const events = await append(...Array<string>(1_100).fill('stuck'), 'other');
  await until(() => ids()).toEqual([events[0], events.at(-1)]);
});

test('a test event does not wait for one that failed', async () => {
  const { id } = await create();
  const answers = [500];
  receiver.answer((_webhook, response) => void response.writeHead(answers.shift() ?? 200).end());
  const sendTest = async () => (await call('POST', `${ENDPOINTS}/${id}/test`, {})).json.event_id;
  const failed = await sendTest();
  await until(() => ids()).toEqual([failed]);
  const second = await sendTest();
  await until(() => ids()).toEqual([failed, second]);
});

test('an endpoint that hangs uses at most 8 slots and does not delay others', async () => {
  const hanging = await startReceiver();
  hanging.answer(() => undefined);
  await create(['*'], hanging.url);
  await create();
  const subjects = Array.from({ length: 60 }, (_, n) => `s${n}`);
  const events = await append(...subjects);
  await until(() => receiver.received.length).toBe(60);
  expect(new Set(ids())).toEqual(new Set(events));
  expect(hanging.received.length).toBeLessThanOrEqual(8);
  await hanging.close();
});

test('a partner whose endpoints hang uses at most 32 slots', async () => {
  const hanging = await startReceiver();
  hanging.answer(() => undefined);
  for (let n = 0; n < 5; n++) await create(['*'], `${hanging.url}/${n}`);
  await append(...Array.from({ length: 8 }, (_, n) => `s${n}`));
  await until(() => hanging.received.length).toBe(32);
  await sleep(600);
  expect(hanging.received.length).toBe(32);
  await hanging.close();
});

test('an endpoint whose deliveries cannot be claimed does not block those of other endpoints', async () => {
  const { id } = await create();
  await sql`create function fail_claim() returns trigger language plpgsql as $$ begin raise exception 'broken'; end $$`.execute(
    node.ctx.db,
  );
  await sql
    .raw(`create trigger fail_claim before update on webhook_deliveries for each row
      when (new.endpoint_id = '${id}') execute function fail_claim()`)
    .execute(node.ctx.db);
  const { id: other } = await create(['*'], `${receiver.url}/other`);
  const events = await append('a', 'b');
  await until(() => ids()).toEqual(events);
  expect(receiver.received.every(({ path }) => path === '/hooks/other')).toBe(true);
  await until(async () => (await call('GET', `${ENDPOINTS}/${other}`)).json.behind).toBe(0);
  await sql`drop function fail_claim cascade`.execute(node.ctx.db);
});

test('a backlog becomes deliveries in batches, so that other endpoints need not wait for its end', async () => {
  const { id } = await create();
  const { db } = node.ctx;
  // Disables the partner, so that the worker ignores it and only the test creates deliveries.
  await sql`update partners set disabled_at = now() where id = ${PARTNER}`.execute(db);
  await append(...Array<string>(501).fill('a'));
  await placeEvents(db);
  const created = async () =>
    (await sql`select from webhook_deliveries where endpoint_id = ${id}`.execute(db)).rows;
  expect(await createDeliveries(node.ctx, id)).toBe(true);
  expect(await created()).toHaveLength(500);
  expect(await createDeliveries(node.ctx, id)).toBe(false);
  expect(await created()).toHaveLength(501);
  await sql`update partners set disabled_at = null where id = ${PARTNER}`.execute(db);
  // Disabling the partner has ended its token, so the test needs a new token.
  call = await callAs(node);
});

test('rotation signs with both secrets during the grace period and with the new one alone after it', async () => {
  const { id, secret } = await create();
  const { json: rotated } = await call('POST', `${ENDPOINTS}/${id}/rotate-secret`, {});
  await append('a');
  await until(() => receiver.received.length).toBe(1);
  const [during] = receiver.received as [ReceivedWebhook];
  expect([isSignedWith(secret, during), isSignedWith(rotated.secret, during)]).toEqual([true, true]);
  const { json: urgent } = await call('POST', `${ENDPOINTS}/${id}/rotate-secret`, { grace_hours: 0 });
  await append('b');
  await until(() => receiver.received.length).toBe(2);
  const after = receiver.received[1] as ReceivedWebhook;
  expect([isSignedWith(rotated.secret, after), isSignedWith(urgent.secret, after)]).toEqual([false, true]);
});

test('a disabled endpoint loses nothing: it resumes where it stopped, or from now if requested', async () => {
  const { id } = await create();
  const disable = () => call('POST', `${ENDPOINTS}/${id}/disable`, {});
  await disable();
  const missed = await append('a', 'b');
  await sleep(600);
  expect(receiver.received).toEqual([]);
  expect((await call('GET', `${ENDPOINTS}/${id}`)).json.behind).toBe(2);
  await call('POST', `${ENDPOINTS}/${id}/enable`, { from: 'stopped' });
  await until(() => ids()).toEqual(missed);
  await disable();
  await append('c');
  await call('POST', `${ENDPOINTS}/${id}/enable`, { from: 'now' });
  const [next] = await append('d');
  await until(() => ids()).toEqual([...missed, next]);
});

test('a delivery whose sender died is sent again after its lease', async () => {
  const { id } = await create();
  await call('POST', `${ENDPOINTS}/${id}/disable`, {});
  const [event] = await append('a');
  await call('POST', `${ENDPOINTS}/${id}/enable`, {});
  await until(() => ids()).toEqual([event]);
  await until(async () => (await call('GET', `${ENDPOINTS}/${id}`)).json.behind).toBe(0);
  // Puts the row into the state it has if the process dies after the request but before recording the attempt.
  await sql`update webhook_deliveries set state = 'pending', lease_until = now() + interval '1 second',
    next_attempt_at = now() where event_id = ${event}`.execute(node.ctx.db);
  await sleep(600);
  expect(receiver.received).toHaveLength(1);
  await until(() => ids()).toEqual([event, event]);
});

test('delivers and retries whatever the application clock does', async () => {
  await create();
  const answers = [500];
  receiver.answer((_webhook, response) => void response.writeHead(answers.shift() ?? 200).end());
  const events: (string | undefined)[] = [];
  for (const seconds of [86_400, -2 * 86_400, 86_400]) {
    node.clock.advance(seconds);
    events.push((await append(`at ${events.length}`))[0]);
  }
  await until(() => receiver.received.length).toBe(3);
  await retryNow();
  await until(() => new Set(ids())).toEqual(new Set(events));
  await until(() => receiver.received.length).toBe(4);
  const stamps = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']));
  expect(Math.max(...stamps.map((stamp) => Math.abs(stamp - Date.now() / 1000)))).toBeLessThan(60);
});
