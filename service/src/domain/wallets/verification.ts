import type { Hex } from 'viem';
import { toTimestamp } from '../../kernel/wire.ts';
import { uncached } from '../../platform/chain/evm/client.ts';
import { readAuthorized } from '../../platform/chain/evm/fund-swap.ts';
import { readChainTime } from '../../platform/chain/evm/node-reads.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { appendEvent } from '../../platform/events/event.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import {
  finishVerification,
  listPermitted,
  type NewVerification,
  putAllowed,
  type Verification,
} from './store.ts';

/** Does nothing if the verification has already ended. */
export async function endVerification(
  ctx: Context,
  tx: Db,
  key: Parameters<typeof finishVerification>[1],
  state: 'allowed' | 'expired',
): Promise<void> {
  const ended = await finishVerification(tx, key, state, toTimestamp(ctx.clock.micros()));
  if (ended !== undefined && state === 'allowed') await appendAllowed(ctx, tx, ended);
}

/** Without this record, the wallet would not be revoked if the user loses eligibility. */
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

const WATCH_INTERVAL_MS = 5_000;
const BATCH_SIZE = 500;
/**
 * How much time must pass after the deadline of a permission before it is recorded as expired. Right after the
 * deadline, a lagging node may not show the wallet's transaction yet, and a reorganization may still put that
 * transaction into a block before the deadline. An allowed wallet that is recorded as expired would never be revoked.
 */
const EXPIRY_MARGIN_S = 300n;

/** Stores whether permissions were used or have expired. Safe to run on any number of nodes. */
export async function settleVerifications(ctx: Context): Promise<void> {
  // Reads every page. Permissions on a chain that does not answer stay open, and must not keep later permissions
  // waiting.
  for (let last: Verification | null = null; ; ) {
    const open: Verification[] = await listPermitted(ctx.db, last, BATCH_SIZE);
    await Promise.all(
      open.map((verification) =>
        settle(ctx, verification).catch((err: unknown) =>
          ctx.log.debug({ err, chain: verification.chain }, 'allow-list verification lookup failed'),
        ),
      ),
    );
    last = open.at(-1) ?? null;
    if (open.length < BATCH_SIZE) return;
  }
}

async function settle(ctx: Context, verification: Verification): Promise<void> {
  const state = await readState(ctx, verification);
  if (state === null) return;
  await ctx.db.transaction().execute((tx) => endVerification(ctx, tx, verification, state));
}

/** Null while the permission is open. Compares its deadline with the chain's time, as the contract does. */
async function readState(
  ctx: Context,
  { chain: name, contract, wallet, deadline }: Verification,
): Promise<'allowed' | 'expired' | null> {
  const chain = ctx.chains.evm(name);
  const isOver = ((await readChainTime(chain)) - EXPIRY_MARGIN_S) * 1000n > BigInt(Date.parse(deadline));
  if (await readAuthorized(uncached(chain), contract as Hex, wallet as Hex)) return 'allowed';
  return isOver ? 'expired' : null;
}

export function startAllowListWatch(ctx: Context): () => Promise<void> {
  return startInterval(ctx, WATCH_INTERVAL_MS, 'allow-list watch failed', () => settleVerifications(ctx));
}
