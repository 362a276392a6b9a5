import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { toHex } from 'viem/utils';
import { feeLimits } from '../../src/operator/account.ts';
import { adoptNonce } from '../../src/settlement/adopt.ts';
import { applyReconcile } from '../../src/settlement/reconcile.ts';
import { planReconcile } from '../../src/settlement/reconcile-plan.ts';
import type { Environment } from './environment.ts';
import { MAX_REORGANISATION_DEPTH } from './random-choices.ts';

const GWEI = 1_000_000_000n;

/** Raises the base fee of the next block, above what pending transactions offer. */
export async function spikeFees({ chain }: Environment, gwei: bigint): Promise<void> {
  const params = [toHex(gwei * GWEI)];
  await chain.chain.request({ method: 'hardhat_setNextBlockBaseFeePerGas', params });
}

/** Stops the chain for a while. */
export async function stallBlocks({ chain }: Environment, milliseconds: number): Promise<void> {
  chain.chain.setBlockInterval(1e8);
  await sleep(milliseconds);
  chain.chain.setBlockInterval(0);
  await chain.chain.mine(1);
}

/**
 * Rolls the database back to before its last commit, as a failover to a lagging replica does, while the transaction is in
 * the mempool or mined. Then does what an operator does: reconciles, adopts the nonce and starts the nodes again. Returns
 * false if no commit could be lost.
 */
export async function rollBack({ built: { ctx }, nodes, chain, rpcs }: Environment): Promise<boolean> {
  for (const { fault } of rpcs) fault.set('none');
  for (const node of nodes) node.kill();
  const { rows } = await sql<{ id: string }>`
    select t.id from operator_transactions t
    where t.kind = 'commit' and t.state in ('open', 'settled') and t.nonce = (select max(nonce) from operator_transactions)
      and exists (select from operator_attempts a where a.transaction_id = t.id and a.sent_at is not null)
      and not exists (select from participations p where p.commit_id = t.id and p.status not in ('submitted', 'completed'))`.execute(
    ctx.db,
  );
  const [lost] = rows;
  if (lost !== undefined) await forget(ctx.db, lost.id);
  // Deeper than any reorganisation, so that what is reconciled stays.
  await chain.chain.mine(2 + MAX_REORGANISATION_DEPTH);
  const evm = ctx.chains.evm('ethereum_sepolia');
  if (lost !== undefined && ctx.operator !== null) {
    await applyReconcile(ctx, await planReconcile(ctx.db, evm, 0n));
    const account = { ...ctx, ...feeLimits(ctx.config, evm.name), chain: evm, signer: ctx.operator };
    await adoptNonce(ctx, account);
  }
  for (const node of nodes) await node.restart();
  return lost !== undefined;
}

async function forget(db: Environment['built']['ctx']['db'], id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`update participations set status = 'pending', commit_id = null, commit_row = null, committed = null
      where commit_id = ${id}`.execute(tx);
    await sql`delete from operator_attempts where transaction_id = ${id}`.execute(tx);
    await sql`delete from operator_transactions where id = ${id}`.execute(tx);
    await sql`update operator_keys set next_nonce = next_nonce - 1, epoch = epoch + 1, seen_nonce = null`.execute(
      tx,
    );
  });
}
