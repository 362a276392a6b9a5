import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { startWorld, type World } from '../../../test/support/providers.ts';
import { newId } from '../../kernel/ids.ts';
import type { OfferFile } from '../offer-files/file-schema.ts';
import { reportDueStatuses } from './report.ts';

type Shown = {
  type: string;
  user_id: string;
  data: Record<string, string>;
  changes?: Record<string, string | null>;
};

let world: World;
let offer: Awaited<ReturnType<typeof makeOffer>>;
let partner: string;
let user: { userId: string; token: string };
let last: string;

beforeAll(async () => {
  world = await startWorld();
  const [option] = saleFile().options;
  const requirements = [
    { type: 'identity_verification', details: null },
    { type: 'kyc_approved', details: null },
    { type: 'accreditation', details: null },
    { type: 'external_wallet', details: { protocol: 'ethereum' } },
    { type: 'document', details: { document_type: 'tax_certification' } },
    { type: 'jurisdiction', details: { filter_type: 'reject', filters: [{ country_iso_2: 'KP' }] } },
  ];
  const options = [{ ...option, slug: 'all', requirements }] as OfferFile['options'];
  offer = await makeOffer(world.ctx, saleFile({ options, ends_at: null }));
  partner = await world.tokenFor({ userId: null });
});
afterAll(() => world.close());
beforeEach(async () => {
  user = await world.newUser();
  // Fills the offer cache, as requests do in practice.
  await get(`/v1/offers/${offer.id}/requirements/statuses`, user.token);
  last = (await get('/v1/events?limit=1')).data[0].id;
});

async function get(path: string, token = partner) {
  const reply = await world.app.inject({ url: path, headers: { authorization: `Bearer ${token}` } });
  expect(reply.statusCode).toBe(200);
  return reply.json();
}

/** Returns the events about the user since the last call. */
async function newEvents(): Promise<Shown[]> {
  const { data } = await get(`/v1/events?limit=100&after=${last}`);
  last = data.at(-1)?.id ?? last;
  return data.filter(({ user_id }: Shown) => user_id === user.userId);
}

/** Runs a step and returns the status changes that it causes, without waiting for the worker. */
async function changesBy(step: () => Promise<unknown>): Promise<string[]> {
  await step();
  const events = await newEvents();
  return events
    .filter(({ type }) => type === 'requirement.status_changed')
    .map(({ data, changes }) => `${data.type} ${changes?.status} → ${data.status}`)
    .sort();
}

const review = (level_name: string, input: object) => () =>
  world.review(user.userId, { level_name, ...input } as Parameters<World['review']>[1]);
const postForm = () =>
  world.app.inject({
    method: 'POST',
    url: '/v1/documents/tax_certification/submission',
    headers: { authorization: `Bearer ${user.token}` },
    payload: {},
  });
const actOnForm = (action: 'view' | 'sign' | 'decline' | 'expire') => async () => {
  const { rows } = await sql<{
    id: string;
  }>`select id from document_submissions where user_id = ${user.userId}
    order by attempt desc limit 1`.execute(world.ctx.db);
  await world.call('documents/act', { external_id: rows[0]?.id ?? '', action });
};
const bindWallet = () =>
  sql`insert into option_addresses (id, option_id, user_id, partner_id, protocol, address, proved_chain, proved_at, created_at)
    select ${newId(world.ctx.clock, world.ctx.random)}, ${offer.options[0]?.id}, ${user.userId}, p.id, 'ethereum',
      ${`0x${user.userId.replace(/-/g, '')}00000000`.slice(0, 42)}, 'ethereum_sepolia', now(), now()
    from partners p limit 1`.execute(world.ctx.db);

describe('requirement.status_changed', () => {
  test('has the shape of the contract and the previous status', async () => {
    await review('Sorting_KYC_Level', { answer: 'RED', reject_type: 'RETRY' })();
    const requirement = offer.options[0]?.requirements.find(({ type }) => type === 'identity_verification');
    expect((await newEvents()).at(-1)).toEqual({
      ...{ object: 'event', id: expect.any(String), type: 'requirement.status_changed' },
      ...{
        timestamp: expect.any(String),
        sequence: expect.any(Number),
        user_id: user.userId,
        request_id: null,
      },
      data: {
        ...{ object: 'requirement', id: requirement?.id, type: 'identity_verification', offer_id: offer.id },
        ...{ offer_option_id: offer.options[0]?.id, status: 'action_needed', action: 'kyc_not_verified' },
      },
      changes: { status: expect.any(String), action: null },
      related: {
        ...{ object: 'requirement_statuses', id: offer.id },
        path: `/v1/offers/${offer.id}/requirements/statuses`,
      },
    });
  });

  test('is written once for every transition of the identity kinds and jurisdiction', async () => {
    const sorting = 'Sorting_KYC_Level';
    expect(await changesBy(review(sorting, { review_status: 'pending' }))).toEqual([
      'identity_verification not_started → in_progress',
    ]);
    expect(await changesBy(review(sorting, { answer: 'RED', reject_type: 'RETRY' }))).toEqual([
      'identity_verification in_progress → action_needed',
    ]);
    expect(await changesBy(review(sorting, { review_status: 'pending' }))).toEqual([
      'identity_verification action_needed → in_progress',
    ]);
    expect(await changesBy(review(sorting, { answer: 'GREEN' }))).toEqual([
      'identity_verification in_progress → completed',
      'jurisdiction action_needed → completed',
    ]);
    expect(await changesBy(review('BasicKYCLevel', { answer: 'GREEN' }))).toEqual([
      'kyc_approved in_progress → completed',
      'kyc_approved not_started → in_progress',
    ]);
    expect(await changesBy(review(sorting, { answer: 'RED', reject_type: 'FINAL' }))).toEqual([
      'accreditation not_started → rejected',
      // The provider restarts the review of this level before it sends the answer.
      'identity_verification completed → not_started',
      'identity_verification not_started → rejected',
      'jurisdiction completed → rejected',
      'kyc_approved completed → rejected',
    ]);
    expect(await changesBy(() => reportDueStatuses(world.ctx))).toEqual([]);
  });

  test('is written once for every transition of a form, beside document_submission events', async () => {
    const types: string[] = [];
    const formChanges = async (step: () => Promise<unknown>) => {
      const before = last;
      const changes = await changesBy(step);
      const { data } = await get(`/v1/events?limit=100&after=${before}`);
      types.push(
        ...data
          .filter(({ type, user_id }: Shown) => user_id === user.userId && /^document_/.test(type))
          .map(({ type, changes }: Shown) => `${type} from ${changes?.status ?? 'nothing'}`),
      );
      return changes;
    };
    expect(await formChanges(postForm)).toEqual(['document not_started → in_progress']);
    expect(await formChanges(actOnForm('view'))).toEqual([]);
    expect(await formChanges(actOnForm('decline'))).toEqual(['document in_progress → rejected']);
    expect(await formChanges(postForm)).toEqual(['document rejected → in_progress']);
    expect(await formChanges(actOnForm('expire'))).toEqual(['document in_progress → not_started']);
    expect(await formChanges(postForm)).toEqual(['document not_started → in_progress']);
    expect(await formChanges(actOnForm('sign'))).toEqual(['document in_progress → completed']);
    expect(types).toEqual([
      'document_submission.initialized from nothing',
      'document_submission.sent from INITIALIZED',
      'document_submission.viewed from SENT',
      'document_submission.declined from VIEWED',
      'document_submission.initialized from nothing',
      'document_submission.sent from INITIALIZED',
      'document_submission.expired from SENT',
      'document_submission.initialized from nothing',
      'document_submission.sent from INITIALIZED',
      'document_submission.completed from SENT',
    ]);
  });

  test('is written by the worker when time changes a status, once on any number of nodes', async () => {
    await review('Sorting_KYC_Level', { answer: 'GREEN' })();
    await review('AccreditationIndividual_FullVerification', { answer: 'GREEN' })();
    await postForm();
    await reportDueStatuses(world.ctx);
    await newEvents();
    await world.advance(31 * 86_400);
    const race = () => Promise.all([1, 2, 3].map(() => reportDueStatuses(world.ctx)));
    expect(await changesBy(race)).toEqual(['document in_progress → not_started']);
    await world.advance(60 * 86_400);
    expect(await changesBy(race)).toEqual(['accreditation completed → action_needed']);
    expect(await changesBy(race)).toEqual([]);
  });

  test('is written by the worker for a change that no request reported, such as one by a command', async () => {
    await bindWallet();
    expect(await newEvents()).toEqual([]);
    expect(await changesBy(() => reportDueStatuses(world.ctx))).toEqual([
      'external_wallet not_started → completed',
    ]);
    await sql`delete from option_addresses where user_id = ${user.userId}`.execute(world.ctx.db);
    expect(await changesBy(() => reportDueStatuses(world.ctx))).toEqual([
      'external_wallet completed → not_started',
    ]);
  });

  test('goes only to partners that may read it', async () => {
    const other = await world.tokenFor({ clientId: 'partner-two', userId: null });
    await world.tokenFor({ clientId: 'partner-two', userId: user.userId, scopes: new Set(['offers:read']) });
    await sql`update oauth_grants set revoked_at = now() where user_id = ${user.userId} and client_id = 'partner-one'`.execute(
      world.ctx.db,
    );
    await review('Sorting_KYC_Level', { answer: 'GREEN' })();
    await reportDueStatuses(world.ctx);
    expect(await newEvents()).toEqual([]);
    expect((await get('/v1/events', other)).data).toEqual([]);
  });

  test('says nothing about a requirement type of a newer release', async () => {
    const { db } = world.ctx;
    await sql`alter table requirements drop constraint requirements_type_check`.execute(db);
    await sql`update requirements set type = 'questionnaire'
      where option_id = ${offer.options[0]?.id} and type = 'accreditation'`.execute(db);
    const requirements = () =>
      world.app.inject({
        url: `/v1/offers/${offer.id}/requirements`,
        headers: { authorization: `Bearer ${user.token}` },
      });
    // The notification about the change may take a moment.
    await expect.poll(async () => (await requirements()).statusCode).toBe(503);
    expect(await changesBy(review('Sorting_KYC_Level', { answer: 'GREEN' }))).toEqual([
      'identity_verification in_progress → completed',
      'identity_verification not_started → in_progress',
      'jurisdiction action_needed → completed',
    ]);
  });
});
