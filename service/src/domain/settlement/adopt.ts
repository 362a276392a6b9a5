import type { Context } from '../../platform/context/context.ts';
import type { ReadOnlyAccount } from '../../platform/operator/account.ts';
import { adoptChainNonce, type ChainNonce, readChainNonce } from '../../platform/operator/adopt.ts';
import { wakeSettlement } from '../holdings/wake.ts';
import { abandonTransaction } from './abandon.ts';
import { planReconcile } from './reconcile-plan.ts';

type Parts = Pick<Context, 'clock' | 'random'>;

/**
 * Thrown if the funds' events differ from the participations in the database. The message tells the operator which
 * command to run first.
 */
export class NotReconciled extends Error {
  constructor(chain: string) {
    super(
      `the funds on ${chain} have commits or refunds that this database does not know; run "causeway operator reconcile ${chain}" first`,
    );
    this.name = 'NotReconciled';
  }
}

/**
 * Resumes settlement after the operator's key was used elsewhere. Returns the next nonce. Signs nothing, so it needs no
 * private key. Throws `NotReconciled` while the chain and the database differ, because a participation could be settled
 * twice. Throws `NotDeepEnough` while a transaction that the key sent elsewhere is not final, because only final
 * transactions have been compared with the database.
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

/** The dry run of `adoptNonce`. Throws the same errors, but changes nothing. */
export async function planAdoption(account: ReadOnlyAccount): Promise<ChainNonce> {
  return readChainNonce(account, await assertReconciled(account));
}

/** Throws `NotReconciled` if the chain and the database differ. Returns the last block that was compared. */
async function assertReconciled({ db, chain }: ReadOnlyAccount): Promise<bigint> {
  const { lost, differences, toBlock } = await planReconcile(db, chain);
  if (lost.length > 0 || differences.length > 0) throw new NotReconciled(chain.name);
  return toBlock;
}
