import fc from 'fast-check';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeOffer, saleFile } from '../../../test/support/offers.ts';
import { startWorld, type World } from '../../../test/support/providers.ts';
import { partnerOf } from '../../../test/support/tokens.ts';
import { newId } from '../../kernel/ids.ts';
import { changeSubmission } from '../documents/status.ts';
import { expireSubmissions, insertSubmission } from '../documents/store.ts';
import { STATUSES } from '../holdings/participation.ts';
import { changeStatus, endParticipations, insertParticipation } from '../holdings/participation-status.ts';
import {
  freezeHeld,
  type NewParticipation,
  type StatusChange,
  unfreezeRow,
} from '../holdings/participation-store.ts';
import { recordReview } from '../identity/review.ts';
import { type LevelReview, resetReviews } from '../identity/store.ts';

const TRANSACTION = partnerOf('partner-one');
const ADDRESS = `0x${'0'.repeat(40)}`;
const LEVEL = 'BasicKYCLevel' as const;
const NOW = '2026-01-01T00:00:00.000000Z';
let world: World;
let offer: Awaited<ReturnType<typeof makeOffer>>;
beforeAll(async () => {
  world = await startWorld();
  offer = await makeOffer(world.ctx, saleFile());
  const { db } = world.ctx;
  await sql`insert into operator_keys (chain, address, next_nonce, epoch, node, lease_until)
    values ('ethereum_sepolia', ${ADDRESS}, 1, 1, 1, now())`.execute(db);
  await sql`insert into operator_transactions (id, chain, signer, nonce, kind, target, data, gas)
    values (${TRANSACTION}, 'ethereum_sepolia', ${ADDRESS}, 0, 'commit', '0x', '', 1)`.execute(db);
});
afterAll(() => world.close());

/** Returns the user's notices as `kind occurrence`, in the order in which they were written. */
async function noticesOf(userId: string): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`select kind || ' ' || occurrence as text from notices
    where user_id = ${userId} order by id`.execute(world.ctx.db);
  return rows.map(({ text }) => text);
}

/** Runs the work in a transaction, which is rolled back afterwards unless `isKept`. */
async function inTransaction(
  isKept: boolean,
  work: (tx: World['ctx']['db']) => Promise<void>,
): Promise<void> {
  const tx = await world.ctx.db.startTransaction().execute();
  let isDone = false;
  try {
    await work(tx);
    isDone = isKept;
  } finally {
    await (isDone ? tx.commit() : tx.rollback()).execute();
  }
}

const status = fc.constantFrom(...STATUSES);
const step = fc.record({
  /** Which participations; they are changed together. */
  chosen: fc.uniqueArray(fc.nat(3), { minLength: 1, maxLength: 3 }),
  from: fc.uniqueArray(status, { minLength: 3, maxLength: 8 }),
  to: status,
  path: fc.constantFrom('change', 'change', 'change', 'change', 'end', 'hold', 'resume'),
  isKept: fc.boolean(),
});

test('whatever changes participations, each accepted, completed, refunded and failed one gives one notice, and the reserved supply is the sum', async () => {
  const { ctx } = world;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom('prepared' as const, 'pending' as const), { minLength: 4, maxLength: 4 }),
      fc.array(step, { maxLength: 40 }),
      async (first, steps) => {
        const { userId } = await world.newUser();
        const expected: string[] = [];
        const tell = (kind: string, id: string) => {
          const text = `participation_${kind} ${id}`;
          if (!expected.includes(text)) expected.push(text);
        };
        const rows: { id: string; status: string }[] = [];
        for (const each of first) {
          const id = newId(ctx.clock, ctx.random);
          await inTransaction(true, async (tx) => {
            await insertParticipation(ctx, tx, {
              ...{ id, partner_id: partnerOf('partner-one'), user_id: userId, offer_id: offer.id },
              ...{
                offer_option_id: offer.options[0]?.id ?? '',
                status: each,
                reason: null,
                amount: '1500000',
              },
              ...{
                asset_id: 'usd-coin',
                asset_code: 'USDC',
                asset_name: 'USD Coin',
                asset_digits: 6,
                price_usd: '1',
              },
              ...{
                chain: 'ethereum_sepolia',
                wallet_address: ADDRESS,
                fund_address: ADDRESS,
                token_address: ADDRESS,
              },
              ...{ vault_address: null, source_address: null, inserted_at: NOW, updated_at: NOW },
              approval_hash: Buffer.from(id.replaceAll('-', '').repeat(2), 'hex'),
            } as NewParticipation);
          });
          if (each === 'pending') tell('pending', id);
          rows.push({ id, status: each });
        }
        for (const { chosen, from, to, path, isKept } of steps) {
          const picked = chosen.flatMap((n) => rows[n] ?? []);
          const ids = picked.map(({ id }) => id);
          await inTransaction(isKept, async (tx) => {
            if (path === 'hold') return freezeHeld(tx, ids);
            if (path === 'resume')
              return void (await Promise.all(ids.map((id) => unfreezeRow(tx, id, ctx.clock))));
            if (path === 'end') return void (await endParticipations(ctx, tx, ids, 'cancelled'));
            const change = { ids, from: from as StatusChange['from'], to, commitId: TRANSACTION };
            await changeStatus(ctx, tx, change);
          });
          if (!isKept || path === 'hold' || path === 'resume') continue;
          for (const row of picked) {
            const allowed: readonly string[] = path === 'end' ? ['prepared', 'pending'] : from;
            if (!allowed.includes(row.status)) continue;
            const [before, after] = [row.status, path === 'end' ? 'failed' : to];
            row.status = after;
            const isFailure = after === 'failed' && ['pending', 'submitted'].includes(before);
            if (isFailure || (after !== before && ['pending', 'completed', 'remitted'].includes(after)))
              tell(after, row.id);
          }
        }
        expect((await noticesOf(userId)).sort()).toEqual(expected.sort());
        const { rows: wrong } = await sql`
        select from (select offer_option_id, asset_digits, price_usd, sum(amount) as amount from participations p
          where reserves_supply(p.status, p.frozen_reason, p.ending_reason) group by 1, 2, 3) as summed
        full join reserved_supply r using (offer_option_id, asset_digits)
        where coalesce(summed.amount, 0) <> coalesce(r.amount, 0)`.execute(ctx.db);
        expect(wrong).toEqual([]);
      },
    ),
    { numRuns: 25 },
  );
}, 120_000);

const review = fc.record({
  status: fc.constantFrom('init', 'pending', 'completed', 'completed', 'awaitingUser'),
  answer: fc.constantFrom('GREEN', 'RED', 'RED'),
  rejectType: fc.constantFrom('RETRY', 'FINAL'),
  minute: fc.nat(3),
  isReset: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  isKept: fc.boolean(),
});

test('each new outcome of a review gives one notice, however often and in whatever order the provider repeats it', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(review, { maxLength: 15 }), async (steps) => {
      const { userId } = await world.newUser();
      const expected: string[] = [];
      let stored: { outcome: string; asOf: string; isFinal: boolean } | null = null;
      for (const { status, answer, rejectType, minute, isReset, isKept } of steps) {
        const asOf = `2026-01-01T00:0${minute}:00.000000Z`;
        const isAnswered = status === 'completed';
        const given: LevelReview = {
          ...{ levelName: LEVEL, status: status as LevelReview['status'] },
          answer: isAnswered ? (answer as 'GREEN' | 'RED') : null,
          rejectType: isAnswered && answer === 'RED' ? (rejectType as 'RETRY' | 'FINAL') : null,
          reviewedAt: isAnswered ? Date.parse(asOf) : null,
        };
        await inTransaction(isKept, (tx) =>
          isReset ? resetReviews(tx, userId, asOf) : recordReview(tx, userId, given, asOf),
        );
        if (!isKept || (stored !== null && stored.asOf > asOf)) continue;
        if (isReset) {
          if (stored !== null && !stored.isFinal)
            stored = { outcome: 'init null null', asOf, isFinal: false };
          continue;
        }
        const outcome = `${given.status} ${given.answer} ${given.rejectType}`;
        if (outcome !== stored?.outcome && (isAnswered || status === 'awaitingUser')) {
          const rejected = given.rejectType === 'FINAL' ? 'review_rejected' : 'review_action_needed';
          const kind = given.answer === 'GREEN' ? 'review_approved' : rejected;
          const text = `${kind} ${LEVEL} ${Date.parse(asOf)}`;
          if (!expected.includes(text)) expected.push(text);
        }
        stored = { outcome, asOf, isFinal: given.rejectType === 'FINAL' };
      }
      const found = (await noticesOf(userId)).map((text) => {
        const [kind, level, ...time] = text.split(' ');
        return `${kind} ${level} ${Date.parse(time.join(' '))}`;
      });
      expect(found).toEqual(expected);
    }),
    { numRuns: 60 },
  );
}, 120_000);

const FORM_STATUSES = ['INITIALIZED', 'SENT', 'VIEWED', 'COMPLETED', 'DECLINED', 'EXPIRED'] as const;

test('a form gives one notice when it is sent and is archived if it expires, in whatever order its statuses are reported', async () => {
  const { ctx } = world;
  const steps = fc.array(fc.tuple(fc.constantFrom(...FORM_STATUSES, 'erase' as const), fc.boolean()), {
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(steps, async (reported) => {
      const { userId } = await world.newUser();
      const id = newId(ctx.clock, ctx.random);
      await insertSubmission(
        ctx.db,
        {
          ...{ id, user_id: userId, document_type: 'tax_certification', attempt: 1, form_type: 'w8_ben' },
          ...{
            status: 'INITIALIZED',
            provider_submission_id: null,
            provider_submitter_id: null,
            pii_version: 0,
          },
          ...{ expires_at: NOW, completed_at: null, claimed_at: NOW, lease_until: null },
          ...{ inserted_at: NOW, updated_at: NOW },
        },
        '1 hour',
      );
      let current: string = 'INITIALIZED';
      let [isTold, hasExpired] = [false, false];
      for (const [next, isKept] of reported) {
        const completedAt = next === 'COMPLETED' ? Date.parse(NOW) : null;
        await inTransaction(isKept, async (tx) => {
          if (next === 'erase') await expireSubmissions(tx, userId, NOW);
          else await changeSubmission(ctx, tx, id, { status: next, completedAt });
        });
        if (!isKept) continue;
        isTold ||= current === 'INITIALIZED' && next === 'SENT';
        const { status: stored } = await ctx.db
          .selectFrom('document_submissions')
          .select('status')
          .where('id', '=', id)
          .executeTakeFirstOrThrow();
        current = stored;
        hasExpired ||= stored === 'EXPIRED';
      }
      expect(await noticesOf(userId)).toEqual(isTold ? [`form_to_sign ${id}`] : []);
      const archived = ctx.db.selectFrom('forms_to_archive').select('due_at').where('submission_id', '=', id);
      expect(await archived.execute()).toHaveLength(hasExpired ? 1 : 0);
    }),
    { numRuns: 40 },
  );
}, 120_000);
