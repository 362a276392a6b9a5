import type { Hex } from 'viem';
import { readChainTime } from '../chain/evm/blocks.ts';
import { uncached } from '../chain/evm/client.ts';
import { readAuthorized } from '../chain/evm/fund-swap.ts';
import type { Context } from '../context.ts';
import type { AllowVerifications } from '../db/wallet-tables.ts';
import { toTimestamp } from '../http/wire.ts';
import { startInterval } from '../jobs/interval.ts';
import { finishVerification, listPermitted } from './store.ts';

const EVERY = 5_000;
const BATCH = 500;

/** Asks the chains what became of the permissions that were given. Any number of nodes may do it at once. */
export async function settleVerifications(ctx: Context): Promise<void> {
  const waiting = await listPermitted(ctx.db, BATCH);
  await Promise.all(
    waiting.map((verification) =>
      settle(ctx, verification).catch((err: unknown) =>
        ctx.log.debug({ err, chain: verification.chain }, 'a verification could not be looked up'),
      ),
    ),
  );
}

async function settle(ctx: Context, verification: AllowVerifications): Promise<void> {
  const state = await lookUp(ctx, verification);
  if (state === null) return;
  await ctx.db
    .transaction()
    .execute((tx) => finishVerification(tx, verification, state, toTimestamp(ctx.clock.micros())));
}

/** By the chain's own time: what is late there cannot land any more. */
async function lookUp(
  ctx: Context,
  { chain: name, contract, wallet, deadline }: AllowVerifications,
): Promise<'allowed' | 'expired' | null> {
  const chain = ctx.chains.evm(name);
  const isOver = (await readChainTime(chain)) * 1000n > BigInt(Date.parse(deadline));
  if (await readAuthorized(uncached(chain), contract as Hex, wallet as Hex)) return 'allowed';
  return isOver ? 'expired' : null;
}

export function startAllowListWatch(ctx: Context): () => Promise<void> {
  return startInterval(ctx, EVERY, 'verifications could not be looked up', () => settleVerifications(ctx));
}
