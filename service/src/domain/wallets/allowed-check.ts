import { Gauge } from 'prom-client';
import type { ChainName } from '../../kernel/chains.ts';
import { toTimestamp } from '../../kernel/wire.ts';
import type { Context } from '../../platform/context/context.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import { decideFor } from '../eligibility/gate.ts';
import { failuresOf } from '../eligibility/purpose.ts';
import { findAnyOffer } from '../offers/offer.ts';
import { openRevocation } from './revocation.ts';
import {
  countOpenRevocations,
  dropVerification,
  listOthers,
  setNextCheck,
  takeDue,
  type Verification,
} from './store.ts';

const CHECK_INTERVAL_MS = 1_000;
const BATCH_SIZE = 50;
const LEASE_MS = 30_000;

/** `lost`: may no longer use the wallet. `unproven`: eligible without a proof. `waiting`: cannot be decided yet. */
type Standing = 'eligible' | 'waiting' | 'unproven' | 'lost';

/** Changed facts make a check due at once. Regular checks find the rest, such as the expiry of a tax form. */
const NEXT_CHECK_MS: Record<Standing, number> = {
  eligible: 10 * 60_000,
  waiting: 60_000,
  unproven: 5_000,
  lost: 5_000,
};

/** Queues a revocation for wallets whose user has lost eligibility. Safe to run on any number of nodes. */
export async function checkAllowed(ctx: Context): Promise<void> {
  for (;;) {
    const leaseUntil = iso(ctx.clock.now() + LEASE_MS);
    const now = iso(ctx.clock.now());
    const due = await takeDue(ctx.db, { now, leaseUntil, limit: BATCH_SIZE });
    await Promise.all(
      due.map((row) =>
        check(ctx, row, leaseUntil).catch((err: unknown) =>
          ctx.log.warn({ err, verification_id: row.id }, 'could not check an allowed wallet'),
        ),
      ),
    );
    if (due.length < BATCH_SIZE) return;
  }
}

async function check(ctx: Context, row: Verification, leaseUntil: string): Promise<void> {
  const standing = await readStanding(ctx, row);
  if (standing === 'lost') return revoke(ctx, row);
  // A wallet that is no longer proven is revoked only if it is on the allow-list. A permission that has not been used
  // expires within minutes anyway, and revoking it would let anyone make the operator pay for revocations.
  if (standing === 'unproven' && row.state === 'allowed') return revokeUnproven(ctx, row);
  await setNextCheck(ctx.db, row.id, { leaseUntil, next: iso(ctx.clock.now() + NEXT_CHECK_MS[standing]) });
}

async function revoke(ctx: Context, row: Verification): Promise<void> {
  await ctx.db.transaction().execute((tx) => openRevocation(ctx, tx, row));
}

/** Only ends the verification if another eligible user's verification justifies the allow-list entry too. */
async function revokeUnproven(ctx: Context, row: Verification): Promise<void> {
  for (const other of await listOthers(ctx.db, row))
    if ((await readStanding(ctx, other)) === 'eligible')
      return dropVerification(ctx.db, row.id, toTimestamp(ctx.clock.micros()));
  await revoke(ctx, row);
}

async function readStanding(ctx: Context, row: Verification): Promise<Standing> {
  const { user_id: userId, partner_id: partnerId, wallet } = row;
  const offer = await findAnyOffer(ctx, partnerId, row.offer_id);
  const input = { offer, options: offer.options, wallet, chain: row.chain as ChainName };
  const failures = failuresOf('permission', await decideFor(ctx, { userId, partnerId }, 'permission', input));
  const lost = failures.filter(({ check }) => check.status !== 'waiting').map(({ check }) => check.code);
  if (lost.some((code) => code !== 'wallet_proof')) return 'lost';
  if (lost.length > 0) return 'unproven';
  return failures.length > 0 ? 'waiting' : 'eligible';
}

function iso(time: number): string {
  return new Date(time).toISOString();
}

export function startAllowedCheck(ctx: Context): () => Promise<void> {
  const open = new Gauge({
    name: 'causeway_allow_list_revocations',
    help: 'Allow-list revocations that the chain has not confirmed yet.',
    registers: [ctx.metrics.registry],
  });
  return startInterval(ctx, CHECK_INTERVAL_MS, 'could not check allowed wallets', async () => {
    await checkAllowed(ctx);
    open.set(await countOpenRevocations(ctx.db));
  });
}
