import { sql } from 'kysely';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { RELEASE_BLOCKS } from '../operator/follow.ts';
import { readNonce, readQuantity, type Operator as Sender } from '../operator/sender.ts';
import { listOpen, markDisplaced, type OpenTransaction } from '../operator/store.ts';
import { changeStatus } from '../participations/status.ts';
import { wakeSettlement } from '../participations/store.ts';
import { failUncommitted } from './outcome.ts';
import { listRowsOf, type WorkRow } from './store.ts';

/** For the person who asked. */
export class NotYetDeep extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotYetDeep';
  }
}

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

/**
 * After somebody else has used the operator's key, and a person has made sure that what they sent committed nothing that
 * we still have to: goes on from the chain's nonce, and gives the work of transactions whose nonce is gone to new ones.
 * Throws while what took such a nonce could still be undone: ours could be mined then, beside its successor.
 */
export async function adoptNonce(ctx: Parts, operator: Sender): Promise<bigint> {
  const key = { chain: operator.chain.name, address: operator.signer.address };
  const count = await readNonce(operator, 'latest');
  const open = await listOpen(ctx.db, key);
  const gone: typeof open = [];
  for (const transaction of open) {
    if (transaction.nonce >= count) continue;
    const receipts = await Promise.all(
      transaction.attempts.map(({ hash }) =>
        operator.chain.rpc.request({ method: 'eth_getTransactionReceipt', params: [hash] }),
      ),
    );
    if (receipts.every((receipt) => receipt === null)) gone.push(transaction);
  }
  await assertDeep(operator, gone);
  return ctx.db.transaction().execute(async (tx) => {
    // Takes the lease away from whoever holds it: what it has signed and not stored is never sent.
    const { rows } = await sql<{ next_nonce: bigint }>`
      update operator_keys set epoch = epoch + 1, lease_until = now(), next_nonce = greatest(next_nonce, ${count})
      where chain = ${key.chain} and address = ${key.address} returning next_nonce`.execute(tx);
    for (const { id, kind } of gone) {
      if (!(await markDisplaced(tx, id)) || kind === 'fill') continue;
      const given = await listRowsOf(tx, kind, id);
      await (kind === 'commit' ? giveUpCommit : giveUpRemit)(ctx, tx, given);
    }
    await wakeSettlement(tx, key.chain);
    return rows[0]?.next_nonce ?? count;
  });
}

/** Whoever was to be refunded already is not committed again. */
async function giveUpCommit(ctx: Parts, tx: Db, rows: WorkRow[]): Promise<void> {
  const idsOf = (some: WorkRow[]) => some.map(({ id }) => id);
  await changeStatus(ctx, tx, {
    ...{ ids: idsOf(rows), from: ['submitted'], to: 'pending' },
    set: sql`, commit_id = null, commit_row = null`,
  });
  const others = rows.filter(({ status }) => status !== 'submitted');
  await failUncommitted(ctx, tx, idsOf(others), 'commit_displaced');
}

async function giveUpRemit(ctx: Parts, tx: Db, rows: WorkRow[]): Promise<void> {
  const { rows: freed } = await sql<{ id: string; committed: boolean | null }>`
    update participations set remit_id = null, remit_row = null where id = any(${rows.map(({ id }) => id)}::uuid[])
    returning id, committed`.execute(tx);
  const uncommitted = freed.filter(({ committed }) => committed === false).map(({ id }) => id);
  await failUncommitted(ctx, tx, uncommitted, 'commit_displaced');
}

async function assertDeep(operator: Sender, gone: readonly OpenTransaction[]): Promise<void> {
  const nonces = gone.filter(({ kind }) => kind !== 'fill').map(({ nonce }) => nonce);
  if (nonces.length === 0) return;
  const head = await readQuantity(operator.chain, 'eth_blockNumber', []);
  const deep = head < RELEASE_BLOCKS ? 0n : await readNonce(operator, head - RELEASE_BLOCKS + 1n);
  const shallow = nonces.find((nonce) => nonce >= deep);
  if (shallow !== undefined)
    throw new NotYetDeep(
      `what was mined with the nonce ${shallow} does not lie ${RELEASE_BLOCKS} blocks deep yet; try again in a while`,
    );
}
