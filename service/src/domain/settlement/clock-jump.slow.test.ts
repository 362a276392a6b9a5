import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../../test/support/sale.ts';
import { useSale } from '../../../test/support/settlement.ts';

const sale = useSale();
const DAY_SECONDS = 24 * 3600;

/** Makes participations expire by the database's clock, as in production, instead of the test's clock. */
const useDatabaseClock = () => Object.assign(sale.app.clock, { lifetime: () => null });

test('a node whose clock jumps ahead or back ends no participation', async () => {
  useDatabaseClock();
  // Sets the clocks of the node and the chain to the database's time, so that the jump below takes them past the
  // deadline.
  sale.app.clock.advance((Date.now() - sale.app.clock.now()) / 1000);
  const { settle } = saleWorker(sale);
  const unmined = sale.request(sale.buyer(0), 5n * UNIT, `0x${'ab'.repeat(32)}`);
  const { body } = await sale.person.call('POST', '/v1/participations', unmined);
  const { id } = await sale.participate(sale.buyer(1), 5n * UNIT);
  sale.app.clock.advance(3 * DAY_SECONDS);
  await sale.mine(1);
  await settle();
  expect([await sale.statusOf(String(body.id)), await sale.statusOf(id)]).toEqual(['prepared', 'completed']);

  sale.app.clock.advance(-6 * DAY_SECONDS);
  const { id: early } = await sale.participate(sale.buyer(2), 5n * UNIT);
  sale.app.clock.advance(6 * DAY_SECONDS);
  await settle();
  expect(await sale.statusOf(early)).toBe('completed');
});

test('a participation ends when its lifetime has passed for the database', async () => {
  useDatabaseClock();
  const { settle } = saleWorker(sale);
  const { id } = await sale.participate(sale.buyer(3), 5n * UNIT);
  await sql`update participations set prepared_at = now() - interval '25 hours' where id = ${id}`.execute(
    sale.app.ctx.db,
  );
  await settle();
  expect([await sale.statusOf(id), await sale.reasonOf(id)]).toEqual(['failed', 'expired']);
});
