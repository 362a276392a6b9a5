import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type TestApp, testApp } from '../../../test/support/app.ts';
import { expectAudited } from '../../../test/support/audited.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { partnerOf } from '../../../test/support/tokens.ts';
import { evmWallet, type Person, person, proveWallets, userId } from '../../../test/support/wallets.ts';
import { OfferRequirements } from '../../kernel/model/requirement.ts';
import { isValid } from '../../kernel/validation.ts';
import type { Offer } from '../../platform/context/ports.ts';
import { lockEligible } from '../eligibility/gate.ts';
import type { Purpose } from '../eligibility/purpose.ts';
import { eraseUser } from '../erasure/erasure.ts';
import { applyOffers } from '../offer-files/apply.ts';
import { admissionRules } from '../offer-files/file-rules.ts';
import type { OfferFile } from '../offer-files/file-schema.ts';
import { reportDueStatuses } from '../requirements/report.ts';
import { Acknowledgement } from './schema.ts';
import { listAcknowledgementsOf } from './store.ts';

const textOf = (version: string, digit = version) => ({
  ...{ document: 'risk-disclosure', version, sha256: digit.repeat(64).slice(0, 64) },
});
const fileWith = (
  text: ReturnType<typeof textOf>,
  slug = 'documented',
  url = 'https://issuer.test/risks.pdf',
) => {
  const details = { ...text, name: 'Risk disclosure', url };
  const requirements = [{ type: 'acknowledgement', details }];
  return saleFile({
    slug,
    options: [
      { slug: 'standard', requirements },
      { slug: 'large', requirements },
      { slug: 'plain' },
    ] as unknown as OfferFile['options'],
  });
};
const V1 = textOf('1');
const V2 = textOf('2');

let app: TestApp;
let offer: Offer;
beforeAll(async () => {
  app = await testApp({ pages: false });
  offer = await makeOffer(app.ctx, fileWith(V1));
});
afterAll(() => app.close());

let users = 100;
const newUser = async (clientId = 'partner-one') => {
  const id = userId(++users);
  return { id, person: await person(app, { userId: id, clientId }) };
};
const acknowledge = (who: Person, text: object = V1, id = offer.id) =>
  who.call('POST', `/v1/offers/${id}/acknowledgements`, text);
const statusesOf = async (who: Person, { id, options }: Offer = offer) => {
  const { body } = await who.call('GET', `/v1/offers/${id}/requirements/statuses`);
  const statuses = body.statuses as Record<string, unknown>;
  return options.flatMap(({ requirements }) => requirements.map((each) => statuses[each.id]));
};
describe('POST /v1/offers/{offer_id}/acknowledgements', () => {
  test('records the exact text and completes the requirement in every option', async () => {
    const { id, person: reader } = await newUser();
    const { body: requirements } = await reader.call('GET', `/v1/offers/${offer.id}/requirements`);
    expect(isValid(OfferRequirements, requirements)).toBe(true);
    expect(await statusesOf(reader)).toEqual(['not_started', 'not_started']);
    const { status, body } = await acknowledge(reader, V1, offer.slug);
    expect([status, isValid(Acknowledgement, body)]).toEqual([200, true]);
    expect(body).toMatchObject({ object: 'acknowledgement', offer_id: offer.id, ...V1 });
    expect(await statusesOf(reader)).toEqual(['completed', 'completed']);
    const row = await app.ctx.db
      .selectFrom('acknowledgements')
      .selectAll()
      .where('user_id', '=', id)
      .executeTakeFirstOrThrow();
    expect(row).toMatchObject({
      ...{ client_id: 'partner-one', partner_id: partnerOf('partner-one'), network: '127.0.0.1' },
      ...{ name: 'Risk disclosure', url: 'https://issuer.test/risks.pdf', request_id: expect.any(String) },
    });
    await expectAudited(app.ctx, 'acknowledgement.recorded');
    // If the offers were cached, the request has already reported the changed statuses. If not, this call reports them,
    // as the worker would.
    await reportDueStatuses(app.ctx);
    const { rows } = await sql<{ data: Record<string, unknown> }>`
      select data from events where user_id = ${id} and type = 'requirement.status_changed'`.execute(
      app.ctx.db,
    );
    expect(rows.map(({ data }) => [data.type, data.status])).toEqual([
      ['acknowledgement', 'completed'],
      ['acknowledgement', 'completed'],
    ]);
  });

  test('keeps one record per user and text, however often and concurrently it is sent', async () => {
    const { person: reader } = await newUser();
    const replies = await Promise.all(Array.from({ length: 20 }, () => acknowledge(reader)));
    expect(new Set(replies.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    const { body } = await reader.call('GET', `/v1/offers/${offer.id}/acknowledgements`);
    expect(body.data).toEqual([replies[0]?.body]);
  });

  test('refuses another text, another document and an offer that the partner does not sell', async () => {
    const { person: reader } = await newUser();
    for (const text of [V2, textOf('1', '3')]) {
      const { status, body } = await acknowledge(reader, text);
      expect([status, body.code]).toEqual([409, 'acknowledgement_outdated']);
      expect(body.errors).toEqual({ version: V1.version, sha256: V1.sha256 });
    }
    const unknown = await acknowledge(reader, { ...V1, document: 'other' });
    expect([unknown.status, unknown.body.code]).toEqual([422, 'validation_failed']);
    const { person: stranger } = await newUser('partner-two');
    expect((await acknowledge(stranger)).body.code).toBe('not_found');
    expect(await statusesOf(reader)).toEqual(['not_started', 'not_started']);
  });

  test('needs no scope for participations: users of swaps acknowledge, too', async () => {
    const scopes = new Set(['requirements:read', 'wallets:write', 'swaps:write']);
    const trader = await person(app, { userId: userId(++users), scopes });
    expect((await acknowledge(trader)).status).toBe(200);
    const reader = await person(app, { userId: userId(users), scopes: new Set(['requirements:read']) });
    expect((await acknowledge(reader)).body.code).toBe('insufficient_scope');
  });

  test('is refused once the offer has ended', async () => {
    const file = fileWith(V1, 'over');
    const ended = await makeOffer(app.ctx, { ...file, ends_at: '2026-01-01T00:00:00Z' });
    const { person: reader } = await newUser();
    expect((await acknowledge(reader, V1, ended.id)).body.code).toBe('offer_ended');
  });

  test('of one user says nothing about another user or another offer', async () => {
    const [first, second] = [await newUser(), await newUser()];
    const other = await makeOffer(app.ctx, fileWith(V1, 'documented-too'));
    await acknowledge(first.person);
    expect(await statusesOf(second.person)).toEqual(['not_started', 'not_started']);
    expect(await statusesOf(first.person, other)).toEqual(['not_started', 'not_started']);
    const { body } = await second.person.call('GET', `/v1/offers/${offer.id}/acknowledgements`);
    expect(body.data).toEqual([]);
  });
});

describe('a new version', () => {
  test('asks again, keeps the earlier record and is what a purchase in flight needs', async () => {
    const before = await makeOffer(app.ctx, fileWith(V1, 'revised'));
    const { id, person: reader } = await newUser();
    await proveWallets(app.ctx, [evmWallet('revised').address], { userId: id });
    await acknowledge(reader, V1, before.id);
    // Runs the eligibility check for a purchase that is in flight and has read the offer as it was before the change.
    const lock = (purpose: Purpose) =>
      app.ctx.db.transaction().execute((tx) =>
        lockEligible(app.ctx, tx, { userId: id, partnerId: partnerOf('partner-one') }, purpose, {
          ...{ offer: before, options: before.options.slice(0, 1), wallet: evmWallet('revised').address },
        }),
      );
    const purchases = ['participate', 'order', 'admit'] as const;
    for (const purpose of purchases) await lock(purpose);
    await applyOffers(app.ctx, [fileWith(V2, 'revised')]);
    const next = { path: `/v1/offers/${before.id}/acknowledgements`, body: V2 };
    for (const purpose of purchases)
      await expect(lock(purpose)).rejects.toMatchObject({
        ...{ code: 'requirements_not_met', details: { checks: [{ code: 'acknowledgement', next }] } },
      });
    // Purchases that were already accepted stay accepted.
    for (const purpose of ['permission', 'commit'] as const) await lock(purpose);
    await expect.poll(() => statusesOf(reader, before)).toEqual(['action_needed', 'action_needed']);
    expect((await acknowledge(reader, V1, before.id)).body.code).toBe('acknowledgement_outdated');
    expect((await acknowledge(reader, V2, before.id)).status).toBe(200);
    for (const purpose of purchases) await lock(purpose);
    const { body } = await reader.call('GET', `/v1/offers/${before.id}/acknowledgements`);
    expect((body.data as { version: string }[]).map(({ version }) => version)).toEqual(['2', '1']);
  });

  test('is required if the text changes', async () => {
    const { id } = await makeOffer(app.ctx, fileWith(V1, 'rewritten'));
    await acknowledge((await newUser()).person, V1, id);
    await expect(applyOffers(app.ctx, [fileWith(textOf('1', '9'), 'rewritten')])).rejects.toThrow(
      'options.standard.requirements.acknowledgement risk-disclosure: sha256 has changed; give the document a new version',
    );
    const moved = fileWith(V1, 'rewritten', 'https://issuer.test/moved.pdf');
    await expect(applyOffers(app.ctx, [moved])).rejects.toThrow('url has changed');
    // A version that users have acknowledged cannot be republished with a different text.
    await applyOffers(app.ctx, [fileWith(V2, 'rewritten')]);
    await expect(applyOffers(app.ctx, [fileWith(textOf('1', '9'), 'rewritten')])).rejects.toThrow(
      'risk-disclosure: sha256 has changed',
    );
    await applyOffers(app.ctx, [fileWith(V1, 'rewritten')]);
  });

  test('is the same in every option', () => {
    const [standard, large] = fileWith(V1).options;
    const [changed] = fileWith(V2).options;
    expect(() => saleFile({ options: [standard, { ...changed, slug: large?.slug }] as never })).toThrow(
      'options.1.requirements.0.details: risk-disclosure must be the same in every option',
    );
  });
});

describe('the file', () => {
  const [standard] = fileWith(V1).options;
  const options = [standard] as OfferFile['options'];

  test('needs an address that nobody can change on the way', () => {
    expect(() => fileWith(V1, 'plain-http', 'http://issuer.test/risks.pdf')).toThrow('url');
    expect(() => fileWith(V1, 'plain-http', 'http://localhost:1@issuer.test/risks.pdf')).toThrow('url');
    fileWith(V1, 'local', 'http://127.0.0.1:8080/risks.pdf');
  });

  test('of a fund swap needs an allow-list, which is what enforces the requirement', () => {
    const [contract] = saleFile().contracts;
    const fund = (allow_list: boolean) =>
      saleFile({ type: 'fund::swap', options, contracts: [{ ...contract, allow_list }] as never });
    expect(() => fund(false)).toThrow('options.0.requirements.0: acknowledgement requires an allow-list');
    fund(true);
  });

  test('of a tokenized swap may differ in documents from one with the same allow-list', () => {
    const plain = [{ ...standard, requirements: [] }] as unknown as OfferFile['options'];
    const isShared = (type: OfferFile['type']) =>
      admissionRules(type, options) === admissionRules(type, plain);
    expect([isShared('tokenized::swap'), isShared('fund::swap')]).toEqual([true, false]);
  });
});

describe('a record', () => {
  test('counts for every partner that sells the offer', async () => {
    await makeOffer(app.ctx, fileWith(V1, 'sold-by-two'));
    const { id, person: reader } = await newUser();
    const other = await person(app, { userId: id, clientId: 'partner-two' });
    const file = { ...fileWith(V1, 'sold-by-two'), partners: ['partner-one', 'partner-two'] };
    await applyOffers(app.ctx, [file]);
    const { body } = await acknowledge(reader, V1, 'sold-by-two');
    const list = () => other.call('GET', '/v1/offers/sold-by-two/acknowledgements');
    await expect.poll(async () => (await list()).body.data).toEqual([body]);
    const { body: statuses } = await other.call('GET', '/v1/offers/sold-by-two/requirements/statuses');
    expect(Object.values(statuses.statuses as object)).toEqual(['completed', 'completed']);
  });

  test('cannot be changed or deleted', async () => {
    const { id, person: reader } = await newUser();
    await acknowledge(reader);
    for (const statement of [
      sql`update acknowledgements set version = '2' where user_id = ${id}`,
      sql`update acknowledgements set network = '192.0.2.1' where user_id = ${id}`,
      sql`delete from acknowledgements where user_id = ${id}`,
      sql`truncate acknowledgements`,
    ])
      await expect(statement.execute(app.ctx.db)).rejects.toThrow('acknowledgements cannot be changed');
  });

  test('is in the export, and stays without the network when the user is erased', async () => {
    const { id, person: reader } = await newUser();
    await acknowledge(reader);
    expect(await listAcknowledgementsOf(app.ctx.db, id)).toEqual([
      {
        ...{ offer_id: offer.id, partner: 'Partner partner-one', network: '127.0.0.1', ...V1 },
        ...{ name: 'Risk disclosure', url: 'https://issuer.test/risks.pdf' },
        inserted_at: expect.any(String),
      },
    ]);
    const { kept, keep_until } = await eraseUser(app.ctx, id, 'requested');
    expect(keep_until).toBeNull();
    expect(kept).toContain('acknowledged documents: which version, and when; no personal data');
    expect(await listAcknowledgementsOf(app.ctx.db, id)).toMatchObject([{ network: null, ...V1 }]);
  });
});
