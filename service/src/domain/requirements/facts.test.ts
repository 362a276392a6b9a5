import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { testApp } from '../../../test/support/app.ts';
import { PERSON_KEY } from '../../../test/support/facts.ts';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { factsOf, NO_DATA } from '../../kernel/model/personal-data.ts';
import { sealPii } from '../pii/sealed-data.ts';
import { readAllFacts, readFacts } from './facts.ts';

test('the facts of all users are the facts of each user', async () => {
  const one = await testApp();
  const { db, sealing } = one.ctx;
  const offer = await makeOffer(one.ctx, saleFile({ options: [{ slug: 'a' }, { slug: 'b' }] as never }));
  const optionIds = offer.options.map((option) => option.id);
  const ids = ['01', '02', '03'].map((n) => `01890000-0000-7000-8000-0000000000${n}`);
  const [first, second] = ids as [string, string];
  await sql`insert into users (id, email, kind) select u, u || '@user.test', 'person' from unnest(${ids}::uuid[]) u`.execute(
    db,
  );
  const facts = factsOf({ ...NO_DATA, country: 'DE' }, 'person', PERSON_KEY);
  await sql`insert into identity_reviews (user_id, level_name, review_status, answer, reviewed_at, as_of, person_hash)
    select u, level, 'completed', 'GREEN', now(), now(), decode(${facts.person}, 'hex') from unnest(${[first, second]}::uuid[]) u,
      unnest(array['BasicKYCLevel', 'Sorting_KYC_Level']) level`.execute(db);
  const { sealed, sealed_facts } = sealPii(sealing, first, NO_DATA, facts);
  await sql`insert into pii (user_id, sealed, sealed_facts, version, as_of)
    values (${first}, ${sealed}, ${sealed_facts}, 1, now())`.execute(db);
  await sql`insert into document_submissions (id, user_id, document_type, attempt, form_type, status, pii_version,
      expires_at, completed_at, claimed_at, due_at, inserted_at, updated_at)
    select gen_random_uuid(), u, 'tax_certification', attempt, 'w8_ben', status, attempt, now(),
      case status when 'COMPLETED' then now() end, now(), now(), now(), now()
    from unnest(${[first, second]}::uuid[]) u, (values (1, 'EXPIRED'), (2, 'COMPLETED'), (3, 'DECLINED')) f (attempt, status)
    where u = ${first} or attempt < 3`.execute(db);
  await sql`insert into option_addresses (id, option_id, user_id, protocol, address, partner_id, proved_chain, proved_at, created_at)
    select gen_random_uuid(), o, ${second}, 'ethereum', '0x' || repeat('ab', 20), (select id from partners limit 1), 'ethereum',
      now(), now() from unnest(${optionIds}::uuid[]) o`.execute(db);
  await sql`insert into acknowledgements (id, user_id, partner_id, client_id, offer_id, document, name, url, version, sha256,
      inserted_at)
    select gen_random_uuid(), ${second}, (select id from partners limit 1), 'partner-one', ${offer.id}, 'risks', 'Risks',
      'https://issuer.test/risks.pdf', version, repeat(version, 64), now() from unnest(array['1', '2']) version`.execute(
    db,
  );

  const listed = [];
  for await (const users of readAllFacts(one.ctx, optionIds)) listed.push(...users);
  const each = await Promise.all(ids.map((id) => readFacts(one.ctx, one.ctx.db, id, optionIds)));
  expect(listed.map((user) => user.facts)).toEqual(expect.arrayContaining(each));
  expect(each.map((user) => Object.keys(user?.reviews ?? {}).length)).toEqual([2, 2, 0]);
  expect(each.map((user) => user?.documents.tax_certification?.status)).toEqual([
    'DECLINED',
    'COMPLETED',
    undefined,
  ]);
  expect(each.map((user) => Object.keys(user?.wallets ?? {}).length)).toEqual([0, 2, 0]);
  expect(
    each.map((user) => Object.values(user?.acknowledgements ?? {}).map((texts) => texts?.length)),
  ).toEqual([[], [2, 2], []]);
  await one.close();
});
