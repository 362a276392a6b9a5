import { decide } from '@causeway/service/eligibility/decide.ts';
import { readSituationRow, situationStatement } from '@causeway/service/eligibility/store.ts';
import { type FactsRow, factsText } from '@causeway/service/requirements/facts.ts';
import { fastify } from 'fastify';
import { statusesWorld } from './statuses-world.ts';

/**
 * This process serves a bare route that runs the same query as the eligibility route and returns a constant reply of
 * the same size.
 */
const { ctx, userId, options } = await statusesWorld();
const { id: partnerId } = await ctx.db.selectFrom('partners').select('id').executeTakeFirstOrThrow();
const key = { userId, partnerId, optionIds: options.map(({ id }) => id), wallet: null, cappedIds: [] };
const statement = situationStatement(factsText);
const checks = (option: (typeof options)[number]) =>
  decide({
    now: ctx.clock.now(),
    offer: { id: 'bench', opens: 0, ends: Number.POSITIVE_INFINITY },
    option,
    user: {
      kind: 'person',
      isActive: true,
      isBeingRead: false,
      reviews: {},
      pii: null,
      documents: {},
      wallets: {},
      acknowledgements: {},
    },
    ...{ isHeld: false, isSanctioned: false, countryPolicy: 'passed' as const, wallet: null },
    ...{ proof: 'not_proven' as const, allowList: 'none' as const, remainingSupply: null },
  }).map(({ check }) => check);
const reply = {
  object: 'eligibility',
  eligible: false,
  options: options.map((option) => ({
    object: 'option_eligibility',
    offer_option_id: option.id,
    eligible: false,
    checks: checks(option),
  })),
};
const app = fastify();
app.get('/eligibility', async () => {
  const row = await readSituationRow<FactsRow>(ctx.pool, statement, key);
  return { ...reply, offer_id: row?.kind };
});
process.send?.({ url: `${await app.listen({ host: '127.0.0.1', port: 0 })}/eligibility` });
