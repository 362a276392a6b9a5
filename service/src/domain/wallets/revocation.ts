import { ApiError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvents } from '../../platform/events/event.ts';
import { wakeSettlement } from '../holdings/wake.ts';
import {
  type Entry,
  hasOpenRevocation,
  hasRevoking,
  insertRevocation,
  listEntriesOf,
  lockEntry,
  markRevocationDone,
  markRevoked,
  startRevoking,
} from './store.ts';

type Parts = Pick<Context, 'clock' | 'random'>;

const RETRY = { 'retry-after': '5' };

/**
 * Queues the revocation of an allow-list entry, which the chain's settlement worker then sends. Also sets every
 * verification that justifies the entry to `revoking`. Does nothing if no verification justifies the entry.
 */
export async function openRevocation(ctx: Parts, tx: Db, entry: Entry): Promise<void> {
  const time = toTimestamp(ctx.clock.micros());
  await lockEntry(tx, entry);
  if ((await startRevoking(tx, entry, time)) > 0) await queue(ctx, tx, entry, time);
}

/** Revokes an entry even without a verification, for example because the issuer created it. */
export async function revokeEntry(ctx: Parts, tx: Db, entry: Entry): Promise<void> {
  const time = toTimestamp(ctx.clock.micros());
  await lockEntry(tx, entry);
  await startRevoking(tx, entry, time);
  await queue(ctx, tx, entry, time);
}

async function queue(ctx: Parts, tx: Db, { chain, contract, wallet }: Entry, time: string): Promise<void> {
  const id = newId(ctx.clock, ctx.random);
  await insertRevocation(tx, { id, chain, contract, wallet }, time);
  await wakeSettlement(tx, chain);
}

/** An open revocation would also cancel a permission that is signed now. */
export async function lockNotRevoking(tx: Db, entry: Entry): Promise<void> {
  await lockEntry(tx, entry);
  await assertNotRevoking(tx, entry);
}

export async function assertNotRevoking(db: Db, entry: Entry): Promise<void> {
  if (await hasOpenRevocation(db, entry))
    throw new ApiError(
      'upstream_unavailable',
      { upstream: 'allow_list' },
      { message: 'The wallet is being removed from the allow-list. Try again in a moment.', headers: RETRY },
    );
}

/** Returns whether the removal of a wallet still awaits confirmation by the chain. */
export async function revokeWalletsOf(ctx: Parts, tx: Db, userId: string): Promise<boolean> {
  for (const entry of await listEntriesOf(tx, userId)) await openRevocation(ctx, tx, entry);
  return hasRevoking(tx, userId);
}

/** Records a confirmed revocation. Appends a `wallet.revoked` event for each verification that ends with it. */
export async function finishRevocation(ctx: Parts, tx: Db, transactionId: string): Promise<void> {
  const entry = await markRevocationDone(tx, transactionId);
  if (entry === undefined) return;
  const ended = await markRevoked(tx, entry, toTimestamp(ctx.clock.micros()));
  const events = ended.map(({ id, partner_id, user_id, offer_id, chain }) => ({
    ...{ partnerId: partner_id, userId: user_id, type: 'wallet.revoked' },
    data: { object: 'allowed_wallet', id, offer_id, chain, status: 'revoked' },
    related: { object: 'offer', id: offer_id, path: `/v1/offers/${offer_id}` },
  }));
  await appendEvents(ctx, tx, events);
}
