import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { appendEvent } from '../events/event.ts';
import { toTimestamp } from '../http/wire.ts';
import { finishVerification } from './store.ts';

/** Ends an open allow-list verification, once. A wallet that is now allowed is an event. */
export async function endVerification(
  ctx: Context,
  tx: Db,
  key: Parameters<typeof finishVerification>[1],
  state: 'allowed' | 'expired',
): Promise<void> {
  const ended = await finishVerification(tx, key, state, toTimestamp(ctx.clock.micros()));
  if (ended === undefined || state === 'expired') return;
  const { id, partner_id, user_id, offer_id, chain } = ended;
  await appendEvent(ctx, tx, {
    ...{ partnerId: partner_id, userId: user_id, type: 'wallet.allowed' },
    data: { object: 'allowed_wallet', id, offer_id, chain, status: state },
    related: { object: 'offer', id: offer_id, path: `/v1/offers/${offer_id}` },
  });
}
