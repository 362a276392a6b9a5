import type { Hex } from 'viem';
import { readChainTime } from '../../platform/chain/evm/blocks.ts';
import { uncached } from '../../platform/chain/evm/client.ts';
import { readAuthorized } from '../../platform/chain/evm/fund-swap.ts';
import type { Context } from '../../platform/context/context.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import { endVerification } from './verification.ts';
import { listPermitted, type Verification } from './verification-store.ts';

const WATCH_INTERVAL_MS = 5_000;
const BATCH_SIZE = 500;
/**
 * How much time must pass after the deadline of a permission before it is recorded as expired. Right after the
 * deadline, a lagging node may not show the wallet's transaction yet, and a reorganization may still put that
 * transaction into a block before the deadline. An allowed wallet that is recorded as expired would never be revoked.
 */
const EXPIRY_MARGIN_S = 300n;

/**
 * Checks on chain whether open allow-list permissions were used or have expired, and stores the outcomes. Safe to run
 * on any number of nodes.
 */
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

/**
 * Returns the outcome of a permission, or null while it is open. Compares the permission's deadline with the chain's
 * time, as the contract does.
 */
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
