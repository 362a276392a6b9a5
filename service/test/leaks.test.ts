import { createHash, createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eraseUser } from '../src/domain/erasure/erasure.ts';
import { rotatePii } from '../src/domain/pii/pii.ts';
import { startWorld, type World } from './support/providers.ts';
import { USER } from './support/tokens.ts';

let world: World;
let token: string;
const replies: string[] = [];
beforeAll(async () => {
  world = await startWorld();
  token = await world.tokenFor({ userId: USER });
});
afterAll(() => world.close());

/** Personal data that occurs nowhere else, so that every occurrence is a leak. */
const MARKS = {
  first: 'Zyxomarkfirst',
  middle: 'Zyxomarkmiddle',
  last: 'Zyxomarklast',
  street: '77 Zyxomark Street',
  city: 'Zyxomarkcity',
  state: 'Zyxomarkstate',
  postal: 'ZYXOMARK-77',
  tax: 'ZYXOMARKTAX-4711',
  birth: '1931-07-29',
};
const FORM = {
  'Full Name': 'Qwertzform Name',
  'Permanent Address': '5 Qwertzform Road',
  City: 'Qwertzformcity',
  Country: 'France',
  'Foreign Tax Number': 'QWERTZFORM-1234567',
  DOB: '07-30-1932',
  Signature: 'Qwertzform Signature',
  'An unknown field': 'Qwertzformunknown',
};
const SECRETS = [...Object.values(MARKS), ...Object.values(FORM).filter((value) => value !== 'France')];

async function call(
  method: 'GET' | 'POST',
  url: string,
  payload?: object | string,
  headers: Record<string, string> = {},
) {
  const reply = await world.app.inject({
    method,
    url,
    headers: {
      authorization: `Bearer ${token}`,
      ...(typeof payload === 'string' && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload !== undefined && { payload }),
  });
  if (url !== '/v1/pii') replies.push(`${reply.body} ${JSON.stringify(reply.headers)}`);
  return reply;
}
const submit = (payload: object | string = FORM, headers = {}) =>
  call('POST', '/v1/documents/tax_certification/submission', payload, headers);

/** Makes requests that succeed and requests that fail, with the values in `MARKS`. */
async function exerciseAllPaths(): Promise<void> {
  const { first, middle, last, street, city, state, postal, tax, birth } = MARKS;
  const pii = {
    first_name: first,
    middle_name: middle,
    last_name: last,
    date_of_birth: birth,
    address: { street, city, state, postal_code: postal, country: 'FR' },
    tax_id: tax,
  };
  await call('POST', '/v1/kyc-token', { level_name: 'BasicKYCLevel' }, { 'idempotency-key': 'k1' });
  await world.review(USER, { level_name: 'BasicKYCLevel', answer: 'GREEN', pii });
  expect((await call('GET', '/v1/pii')).json().full_legal_name).toBe(`${first} ${middle} ${last}`);
  await submit([FORM]);
  await submit({ ...FORM, DOB: [FORM.DOB] });
  await submit(`${JSON.stringify(FORM).slice(0, -1)},`);
  await submit({ ...FORM, Country: 'United States' });
  await submit({ ...FORM, Signature: `${FORM.Signature} ${'?'.repeat(100)}` });
  for (const mode of ['garbage', 'down'] as const) {
    await world.call('documents/fault', { mode });
    await world.call('identity/fault', { mode });
    await submit();
    await call('POST', '/v1/kyc-token', {});
  }
  await world.call('documents/fault', { mode: 'none' });
  await world.call('identity/fault', { mode: 'none' });
  await world.call('documents/one-shot-fault', { fault: 'error_500' });
  await submit();
  await world.advance(61);
  let sent = await submit(FORM, { 'idempotency-key': 'k2' });
  // The failures above have opened the circuit breaker, which stays open for a while.
  for (; sent.statusCode >= 500; sent = await submit(FORM, { 'idempotency-key': 'k2' })) await sleep(50);
  expect(sent.json()).toMatchObject({ status: 'SENT' });
  await submit(FORM, { 'idempotency-key': 'k2' });
  await submit({ ...FORM, City: 'Elsewhere' }, { 'idempotency-key': 'k2' });
  await submit();
  await sendEvents();
  const { id } = await world.ctx.db
    .selectFrom('document_submissions')
    .select('id')
    .where('user_id', '=', USER)
    .executeTakeFirstOrThrow();
  await world.call('documents/act', { external_id: id, action: 'view' });
  await world.call('documents/act', { external_id: id, action: 'sign' });
  await submit();
}

/** Sends forged webhooks, and signed ones that cannot be parsed, with data that must not be stored. */
async function sendEvents(): Promise<void> {
  const secret = world.ctx.config.documents?.webhookSecrets[0] ?? '';
  const seconds = Math.floor(Date.now() / 1000);
  for (const body of [
    JSON.stringify({ event_type: 'form.viewed', data: FORM }),
    `{"x":${JSON.stringify(FORM)}`,
  ]) {
    const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
    await call('POST', '/webhooks/documents', body, { 'x-docuseal-signature': `${seconds}.${digest}` });
    await call('POST', '/webhooks/documents', body);
    await call('POST', '/webhooks/identity', body);
  }
}

async function dumpDatabase(): Promise<string> {
  const { rows } = await sql<{
    name: string;
  }>`select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`.execute(world.ctx.db);
  const tables = await Promise.all(
    rows.map(
      async ({ name }) =>
        (await sql<{ line: string }>`select t::text as line from ${sql.raw(name)} t`.execute(world.ctx.db))
          .rows,
    ),
  );
  return tables
    .flat()
    .map(({ line }) => line)
    .join('\n');
}

/** Returns the value in every form in which it could have been stored. */
function encodingsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const hashes = ['sha256', 'sha1', 'md5'].flatMap((name) => [
    createHash(name).update(bytes).digest('hex'),
    createHash(name).update(bytes).digest('base64'),
  ]);
  return [
    value,
    bytes.toString('hex'),
    bytes.toString('base64').replace(/=+$/, '').slice(0, -1),
    encodeURIComponent(value),
    ...hashes,
  ];
}

test('personal data and form values never reach the database, the log, the metrics or an error', async () => {
  await exerciseAllPaths();
  const body = JSON.stringify(FORM);
  const places = {
    database: await dumpDatabase(),
    log: world.logged(),
    metrics: await world.ctx.metrics.registry.metrics(),
    replies: replies.join('\n'),
  };
  // Checks that each place contains the data expected there, which shows that the search reads the right
  // data.
  expect(places.database).toContain(USER);
  expect(places.log).toContain('/v1/documents/:document_type/submission');
  expect(places.metrics).toContain('causeway_upstream_requests_total');
  expect(places.replies).toContain('tax_form_not_applicable');
  for (const [place, text] of Object.entries(places))
    for (const secret of [...SECRETS, body])
      for (const encoded of encodingsOf(secret))
        expect(text.toLowerCase().includes(encoded.toLowerCase()), `${secret} in the ${place}`).toBe(false);
});

test('key rotation and erasure do not store any of it either', async () => {
  await rotatePii(world.ctx);
  await eraseUser(world.ctx, USER, 'requested');
  const text = `${await dumpDatabase()} ${world.logged()}`;
  for (const secret of SECRETS)
    for (const encoded of encodingsOf(secret)) expect(text.includes(encoded)).toBe(false);
});
