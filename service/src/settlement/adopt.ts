import type { Context } from '../context.ts';
import type { ReadOnlyAccount } from '../operator/account.ts';
import { adoptChainNonce, type ChainNonce, readChainNonce } from '../operator/adopt.ts';
import { wakeSettlement } from '../participations/wake.ts';
import { abandonTransaction } from './abandon.ts';
import { planReconcile } from './reconcile-plan.ts';

type Parts = Pick<Context, 'clock' | 'random'>;

/**
 * Thrown if the participations and the events of the funds differ. The message is meant for the operator who ran the
 * command.
 */
export class NotReconciled extends Error {
  constructor(chain: string) {
    super(
      `the funds on ${chain} have commits or refunds that this database does not know; run causeway operator reconcile ${chain} first`,
    );
    this.name = 'NotReconciled';
  }
}

/**
 * Resumes settlement after the operator's key was used elsewhere. Throws `NotReconciled` while the chain and the
 * database differ, because participations that a foreign transaction has settled would be settled a second time. Throws
 * `NotDeepEnough` while foreign transactions are not final, because they have not been compared with the database yet.
 * Returns the next nonce. Signs nothing, so it needs no private key.
 */
export async function adoptNonce(parts: Parts, account: ReadOnlyAccount): Promise<bigint> {
  const { db, chain } = account;
  const toBlock = await assertReconciled(account);
  const nextNonce = await adoptChainNonce(account, toBlock, (tx, displaced) =>
    abandonTransaction(parts, tx, displaced),
  );
  await wakeSettlement(db, chain.name);
  return nextNonce;
}

/** Returns what `adoptNonce` would do, or throws what it would throw. */
export async function planAdoption(account: ReadOnlyAccount): Promise<ChainNonce> {
  return readChainNonce(account, await assertReconciled(account));
}

/** Throws `NotReconciled` if the chain and the database differ. Returns the last block that was compared. */
async function assertReconciled({ db, chain }: ReadOnlyAccount): Promise<bigint> {
  const { lost, differences, toBlock } = await planReconcile(db, chain);
  if (lost.length > 0 || differences.length > 0) throw new NotReconciled(chain.name);
  return toBlock;
}
