import { newId } from '@causeway/service/http/ids.ts';
import { timestampOf } from '@causeway/service/http/wire.ts';
import { LEVELS } from '@causeway/service/identity/provider.ts';
import { savePerson, saveReview } from '@causeway/service/identity/store.ts';
import { applyOffers } from '@causeway/service/offers/apply.ts';
import { parseOfferFile } from '@causeway/service/offers/file.ts';
import { publishOffer } from '@causeway/service/offers/lifecycle.ts';
import { readOfferBySlug } from '@causeway/service/offers/store.ts';
import { NO_DATA } from '@causeway/service/pii/personal-data.ts';
import { savePersonalData } from '@causeway/service/pii/pii.ts';
import { benchContext } from './context.ts';

const REQUIREMENTS = `
      - type: identity_verification
      - type: kyc_approved
      - type: accreditation
      - { type: external_wallet, details: { protocol: ethereum } }
      - { type: whitelisted_wallet, details: { max_wallets: 3 } }
      - { type: document, details: { document_type: tax_certification } }
      - { type: jurisdiction, details: { filter_type: reject, filters: [{ country_iso_2: US }] } }`;

/** Creates an offer with seven requirements per option, and a user who has data for most of the requirements. */
export async function statusesWorld(optionCount = 4) {
  const bench = await benchContext();
  const { ctx } = bench;
  const options = Array.from(
    { length: optionCount },
    (_, n) => `  - slug: option-${n}\n    requirements:${REQUIREMENTS}`,
  );
  const file = parseOfferFile(
    `
slug: bench
type: platform::token_sale
name: A fine asset
tagline: Own a share of something that lasts
logo_url: https://assets.test/logo.svg
banner_url: https://assets.test/banner.svg
asset: usd-coin
funding_assets: [usd-coin]
partners: [Bench]
options:
${options.join('\n')}
assets:
  usd-coin: { code: USDC, name: USD Coin, fractional_digits: 6 }
`,
    { name: 'bench.yaml' },
  );
  await applyOffers(ctx, [file]);
  await publishOffer(ctx, 'bench');
  const offer = await readOfferBySlug(ctx.db, 'bench');
  const { id: userId } = await ctx.db.selectFrom('users').select('id').executeTakeFirstOrThrow();
  const now = timestampOf(ctx.clock);
  for (const levelName of LEVELS)
    await saveReview(
      ctx.db,
      userId,
      { levelName, status: 'completed', answer: 'GREEN', rejectType: null, reviewedAt: ctx.clock.now() },
      now,
    );
  const data = { ...NO_DATA, full_legal_name: 'Ada Lovelace', date_of_birth: '1990-01-01', country: 'DE' };
  const saved = await ctx.db.transaction().execute((tx) => savePersonalData(ctx, tx, userId, data, now));
  if (saved === null) throw new Error('the personal data was not saved');
  for (const levelName of LEVELS) await savePerson(ctx.db, userId, levelName, saved.persons, now);
  const { id: partnerId } = await ctx.db.selectFrom('partners').select('id').executeTakeFirstOrThrow();
  for (const option of offer?.options ?? [])
    await ctx.db
      .insertInto('option_addresses')
      .values({
        id: newId(ctx.clock, ctx.random),
        option_id: option.id,
        user_id: userId,
        protocol: 'ethereum',
        address: `0x${'ab'.repeat(20)}`,
        partner_id: partnerId,
        proved_chain: 'ethereum_sepolia',
        proved_at: now,
        created_at: now,
      })
      .execute();
  return { ...bench, userId, options: offer?.options ?? [] };
}
