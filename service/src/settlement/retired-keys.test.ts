import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { saleWorker, UNIT } from '../../test/support/sale.ts';
import { useSale } from '../../test/support/settlement.ts';
import { createMetrics } from '../metrics.ts';
import { localSigner } from '../operator/signer.ts';
import { FOLLOW_TIMINGS, startSettlement } from './settlement.ts';

const sale = useSale();
const newKey = localSigner(Buffer.alloc(32, 5));

test('a start refuses while an unlisted replaced key has unfinished transactions', async () => {
  const { round } = saleWorker(sale);
  await sale.participate(sale.buyer(0), 5n * UNIT);
  sale.pauseMining();
  await round();
  const ctx = { ...sale.app.ctx, signerOf: () => newKey, metrics: createMetrics() };
  await expect(startSettlement(ctx)).rejects.toThrow(
    /OPERATOR_RETIRED_KEYS: must list the replaced operator key 0x[0-9a-f]{40}, which has 1 unfinished transaction on ethereum_sepolia/,
  );
});

test('a listed replaced key is followed to the end and sends nothing new', async () => {
  const { ctx } = sale.app;
  const { settle } = saleWorker(sale);
  const open = await ctx.db
    .selectFrom('participations')
    .select('id')
    .where('status', '=', 'submitted')
    .execute();
  expect(open).toHaveLength(1);
  const replaced = {
    ...ctx,
    signerOf: () => newKey,
    metrics: createMetrics(),
    retiredSigners: [ctx.signerOf('commit', 'ethereum_sepolia')].filter((key) => key !== null),
  };
  const settlement = await startSettlement(replaced, { ...FOLLOW_TIMINGS, resendSeconds: 0 });
  sale.resumeMining();
  await expect.poll(() => sale.statusOf(String(open[0]?.id))).toBe('completed');
  const later = await sale.participate(sale.buyer(1), 5n * UNIT);
  // The new key has neither gas nor a role, so the row could move only if the replaced key signed something.
  await sleep(1_000);
  expect(await sale.statusOf(later.id)).toBe('pending');
  await settlement.stop();
  await settle();
  expect(await sale.statusOf(later.id)).toBe('completed');
});
