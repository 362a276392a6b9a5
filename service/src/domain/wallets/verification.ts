import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvent } from '../../platform/events/event.ts';
import {
  finishVerification,
  type NewVerification,
  putAllowed,
  type Verification,
} from './verification-store.ts';

/**
 * Ends an open allow-list verification. Does nothing if it has already ended. Appends an event if the wallet
 * is now allowed.
 */
export async function endVerification(
  ctx: Context,
  tx: Db,
  key: Parameters<typeof finishVerification>[1],
  state: 'allowed' | 'expired',
): Promise<void> {
  const ended = await finishVerification(tx, key, state, toTimestamp(ctx.clock.micros()));
  if (ended !== undefined && state === 'allowed') await appendAllowed(ctx, tx, ended);
}

/**
 * Records that the chain already allows the wallet of an eligible user. Without this record, the wallet would not be
 * revoked if the user loses eligibility.
 */
export async function recordAllowed(ctx: Context, tx: Db, verification: NewVerification): Promise<void> {
  const recorded = await putAllowed(tx, verification, toTimestamp(ctx.clock.micros()));
  if (recorded !== undefined) await appendAllowed(ctx, tx, recorded);
}

async function appendAllowed(
  ctx: Context,
  tx: Db,
  { id, partner_id, user_id, offer_id, chain }: Verification,
): Promise<void> {
  await appendEvent(ctx, tx, {
    ...{ partnerId: partner_id, userId: user_id, type: 'wallet.allowed' },
    data: { object: 'allowed_wallet', id, offer_id, chain, status: 'allowed' },
    related: { object: 'offer', id: offer_id, path: `/v1/offers/${offer_id}` },
  });
}
