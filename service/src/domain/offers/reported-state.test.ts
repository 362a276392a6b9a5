import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { partnerOf } from '../../../test/support/tokens.ts';
import { closeOffer, reopenOffer } from '../offer-files/lifecycle.ts';
import { reportOffers } from './reported-state.ts';

let app: TestApp;
let token: string;
beforeAll(async () => {
  app = await testApp();
  token = await app.tokenFor({ userId: null });
});
afterAll(() => app.close());
beforeEach(async () => {
  await sql`truncate events`.execute(app.ctx.db);
});

const at = (seconds: number) => new Date(app.clock.now() + seconds * 1000).toISOString();
const make = (slug: string, starts_at: string | null, ends_at: string | null) =>
  makeOffer(app.ctx, saleFile({ slug, starts_at, ends_at } as Parameters<typeof saleFile>[0]));
const reports = async (bearer = token) => {
  const reply = await app.app.inject({ url: '/v1/events', headers: { authorization: `Bearer ${bearer}` } });
  return reply
    .json()
    .data.toReversed()
    .map(
      ({ type, data }: { type: string; data: { slug: string; state: string } }) =>
        `${type} ${data.slug} ${data.state}`,
    );
};

test('an offer is reported when it is published, starts and ends, once on any number of nodes', async () => {
  const offer = await make('timed', at(60), at(120));
  expect(await reports()).toEqual(['offer.published timed upcoming']);
  const race = () => Promise.all([1, 2, 3].map(() => reportOffers(app.ctx)));
  await race();
  app.clock.advance(60);
  await race();
  app.clock.advance(60);
  await race();
  expect(await reports()).toEqual([
    'offer.published timed upcoming',
    'offer.started timed open',
    'offer.ended timed ended',
  ]);
  const [event] = (
    await app.app.inject({ url: '/v1/events?limit=1', headers: { authorization: `Bearer ${token}` } })
  ).json().data;
  expect(event).toMatchObject({
    user_id: null,
    data: { object: 'offer', id: offer.id, slug: 'timed', type: 'platform::token_sale', state: 'ended' },
    related: { object: 'offer', id: offer.id, path: `/v1/offers/${offer.id}` },
  });
});

test('an open offer is reported as published and started immediately, and as ended when it is closed', async () => {
  await make('open', null, null);
  await closeOffer(app.ctx, 'open', 'sold');
  expect(await reports()).toEqual([
    'offer.published open open',
    'offer.started open open',
    'offer.ended open ended',
  ]);
});

test('a partner added to a published offer gets its events, and a moved end is reported again', async () => {
  const offer = await make('moved', null, at(60));
  app.clock.advance(60);
  await reportOffers(app.ctx);
  await sql`update offers set ends_at = ${at(60)} where id = ${offer.id}`.execute(app.ctx.db);
  const other = await app.tokenFor({ clientId: 'partner-two', userId: null });
  await sql`insert into offer_partners (offer_id, partner_id) values (${offer.id}, ${partnerOf('partner-two')})`.execute(
    app.ctx.db,
  );
  await reportOffers(app.ctx);
  expect(await reports()).toEqual([
    'offer.published moved open',
    'offer.started moved open',
    'offer.ended moved ended',
    'offer.started moved open',
  ]);
  expect(await reports(other)).toEqual(['offer.published moved open', 'offer.started moved open']);
});

test('a reopened offer is reported as started again, and ends at its planned end', async () => {
  await make('reopened', null, at(60));
  await closeOffer(app.ctx, 'reopened', 'mistake');
  await reopenOffer(app.ctx, 'reopened', 'mistake');
  await reportOffers(app.ctx);
  app.clock.advance(60);
  await reportOffers(app.ctx);
  expect((await reports()).filter((line: string) => line.includes(' reopened '))).toEqual([
    'offer.published reopened open',
    'offer.started reopened open',
    'offer.ended reopened ended',
    'offer.started reopened open',
    'offer.ended reopened ended',
  ]);
});

test('an offer that becomes upcoming again is reported as published again', async () => {
  await make('early', at(60), null);
  await closeOffer(app.ctx, 'early', 'mistake');
  await reopenOffer(app.ctx, 'early', 'mistake');
  app.clock.advance(60);
  await reportOffers(app.ctx);
  expect((await reports()).filter((line: string) => line.includes(' early '))).toEqual([
    'offer.published early upcoming',
    'offer.ended early ended',
    'offer.published early upcoming',
    'offer.started early open',
  ]);
});
