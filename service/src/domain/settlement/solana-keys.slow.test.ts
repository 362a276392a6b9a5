import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { Registry } from 'prom-client';
import { beforeAll, describe, expect, test } from 'vitest';
import { gaugesOf } from '../../../test/support/sale.ts';
import { setMultisig } from '../../../test/support/solana-accounts.ts';
import {
  FINALITY_SLOTS,
  faucetKey,
  keyOfSeed,
  solanaKey,
  solanaWorker,
  theft,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { memo, transferLamports } from '../../platform/chain/solana/instructions.ts';
import { SigningRefused } from '../../platform/operator/receipt-policy.ts';
import { localSolanaSigner, type SolanaSigner } from '../../platform/operator/solana-signer.ts';
import { adoptForeignTransactions, listForeignTransactions } from '../../platform/operator/watch-store.ts';
import { followRetired } from './round.ts';
import { startSettlement } from './settlement.ts';
import { createSolanaWorker } from './solana-driver.ts';

const sale = useSolanaSale();
const CHAIN = 'solana_devnet';
const operator = localSolanaSigner(solanaRoles.operator.seed);
const standby = localSolanaSigner(solanaRoles.standby.seed);

/**
 * Mines enough slots for signed transactions to expire, and runs a round with this key several times in
 * between.
 */
async function waitOut(signer: SolanaSigner): Promise<void> {
  for (let i = 0; i < 4; i++) {
    sale.mine(100);
    await solanaWorker(sale, { signer }).round();
  }
}

async function complete(signer: SolanaSigner): Promise<void> {
  await solanaWorker(sale, { signer }).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale, { signer }).settle();
}

const attemptsOf = async (id: string) =>
  sale.app.ctx.db
    .selectFrom('operator_attempts as a')
    .innerJoin('participations as p', 'p.commit_id', 'a.transaction_id')
    .select('a.hash')
    .where('p.id', '=', id)
    .execute();

/** Creates a worker that signs another attempt in every round, unless a node knows an earlier attempt. */
const renewing = (signer = operator) => solanaWorker(sale, { signer, timings: { renewSeconds: -1 } });

describe('one row', () => {
  test('that must not be signed does not stop the others, at its first attempt or a later one', async () => {
    const ids = [];
    for (const name of ['refused', 'signed'])
      ids.push(await sale.participate(await sale.buyer(name), 3n * UNIT));
    const [refused = '', signed = ''] = ids;
    const refusing = {
      ...operator,
      signTransaction: async (...args: Parameters<typeof operator.signTransaction>) => {
        if (Buffer.from(args[0]).includes(refused)) throw new SigningRefused('the test says so');
        return operator.signTransaction(...args);
      },
    };
    sale.setFaults({ sending: 'lost' });
    await solanaWorker(sale, { signer: refusing }).settle();
    expect([await sale.statusOf(refused), await sale.statusOf(signed)]).toEqual(['pending', 'submitted']);
    await solanaWorker(sale).settle();
    expect(await sale.statusOf(refused)).toBe('submitted');
    const later = await sale.participate(await sale.buyer('later'), 3n * UNIT);
    await solanaWorker(sale).settle();
    await renewing(refusing).round();
    expect([(await attemptsOf(refused)).length, (await attemptsOf(later)).length]).toEqual([1, 2]);
    expect(await sale.app.ctx.metrics.registry.metrics()).toMatch(
      /waiting\{[^}]*reason="signer_policy"[^}]*\} [1-9]/,
    );
    sale.setFaults({ sending: 'now' });
    await renewing().round();
    await complete(operator);
    expect([await sale.statusOf(refused), await sale.statusOf(signed)]).toEqual(['completed', 'completed']);
  });

  test('that a foreign transaction names is not signed again', async () => {
    const buyer = await sale.buyer('foreign');
    const id = await sale.participate(buyer, 3n * UNIT);
    sale.setFaults({ sending: 'lost' });
    await solanaWorker(sale).settle();
    const key = keyOfSeed(solanaRoles.standby.seed);
    sale.land(buyer, [theft(sale, buyer.address, key.address), memo(id)], [key]);
    sale.mine(FINALITY_SLOTS + 1);

    // The worker of a replaced key only follows transactions. Watching the funds is left to the current key's
    // worker.
    const parts = { address: operator.address, signer: null, roles: [] };
    const retired = createSolanaWorker(
      sale.app.ctx,
      sale.app.ctx.chains.solana(CHAIN),
      parts,
      gaugesOf(sale.app),
    );
    await followRetired(retired);
    expect(await listForeignTransactions(sale.app.ctx.db, CHAIN)).toEqual([]);

    await renewing().round();
    expect(await attemptsOf(id)).toHaveLength(1);
    await adoptForeignTransactions(sale.app.ctx.db, CHAIN);
    await renewing().round();
    expect(await attemptsOf(id)).toHaveLength(2);
    sale.setFaults({ sending: 'now' });
    sale.approve(buyer, 3n * UNIT);
    await renewing().round();
    await complete(operator);
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('waits while a step could exceed the number of open transactions', async () => {
    const id = await sale.participate(await sale.buyer('limit'), 3n * UNIT);
    const { worker, settle } = solanaWorker(sale);
    worker.driver.maxUnmined = worker.driver.transactionsPerStep - 1;
    await settle();
    expect(await sale.statusOf(id)).toBe('pending');
    worker.driver.maxUnmined++;
    await settle();
    expect(await sale.statusOf(id)).toBe('submitted');
    await complete(operator);
  });
});

test('a cluster without a key raises an alert, even if a replaced key is still followed', async () => {
  const id = await sale.participate(await sale.buyer('no key'), 3n * UNIT);
  const { ctx } = sale.app;
  sale.setFaults({ sending: 'lost' });
  await solanaWorker(sale).settle();
  await sale.participate(await sale.buyer('waits'), 3n * UNIT);
  const registry = new Registry();
  const settlement = await startSettlement({
    ...ctx,
    solanaSignerOf: () => null,
    metrics: { ...ctx.metrics, registry },
  });
  const raised = async (reason: string) =>
    new RegExp(`waiting\\{chain="${CHAIN}",reason="${reason}"\\} [1-9]`).test(await registry.metrics());
  expect(await raised('operator_key_missing')).toBe(true);
  // The worker of the replaced key also raises its own alerts.
  for (const node of sale.solana.nodes) node.fault.set('down');
  await expect.poll(() => raised('unreachable'), { timeout: 15_000 }).toBe(true);
  expect(await raised('operator_key_missing')).toBe(true);
  await settlement.stop();
  for (const node of sale.solana.nodes) node.fault.set('none');
  sale.setFaults({ sending: 'now' });
  // The circuit breaker lets requests through again only some time after the nodes have recovered.
  const settles = () =>
    renewing()
      .settle()
      .then(
        () => true,
        () => false,
      );
  await expect.poll(settles).toBe(true);
  expect(await sale.statusOf(id)).toBe('submitted');
  await complete(operator);
});

describe('a key', () => {
  const forgetHeights = ({ address }: SolanaSigner) =>
    sale.app.ctx.db.deleteFrom('operator_key_uses').where('address', '=', address).execute();

  beforeAll(() => {
    sale.land(faucetKey, [transferLamports(faucetKey.address, standby.address, 1_000_000_000n)]);
    sale.mine(FINALITY_SLOTS + 1);
  });

  test('in use signs immediately, although another key of its funds could have signed', async () => {
    const id = await sale.participate(await sale.buyer('in use'), 2n * UNIT);
    await solanaWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('submitted');
    await complete(operator);
  });

  test('that takes over signs nothing until what the old key signed has expired', async () => {
    const before = sale.balanceOf(VAULT);
    const id = await sale.participate(await sale.buyer('take over'), 6n * UNIT);
    await solanaWorker(sale, { signer: standby }).settle();
    expect(await sale.statusOf(id)).toBe('pending');
    await waitOut(standby);
    await complete(standby);
    expect(await sale.statusOf(id)).toBe('completed');
    expect(sale.balanceOf(VAULT) - before).toBe(6n * UNIT);
  });

  test('that takes over again waits again, although the database forgot the other key', async () => {
    const { db } = sale.app.ctx;
    await waitOut(operator);
    await complete(operator);
    const id = await sale.participate(await sale.buyer('fail back'), 6n * UNIT);
    await forgetHeights(standby);
    const uses = await db.selectFrom('operator_key_uses').selectAll().execute();
    await solanaWorker(sale, { signer: standby }).settle();
    await waitOut(standby);
    expect(await sale.statusOf(id)).not.toBe('pending');
    // Switches back to the first key, with the database as it was before the standby key was used.
    const { commit_id } = await db
      .selectFrom('participations')
      .select('commit_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    const reset = { status: 'pending', commit_id: null, commit_row: null, committed: null } as const;
    await db.updateTable('participations').set(reset).where('id', '=', id).execute();
    await db.deleteFrom('operator_attempts').where('transaction_id', '=', commit_id).execute();
    await db.deleteFrom('operator_transactions').where('id', '=', commit_id).execute();
    await db.deleteFrom('operator_key_uses').execute();
    await db.insertInto('operator_key_uses').values(uses).execute();
    const waiting = await sale.participate(await sale.buyer('also waits'), 2n * UNIT);
    await solanaWorker(sale).settle();
    expect(await sale.statusOf(waiting)).toBe('pending');
    await waitOut(operator);
    await complete(operator);
    expect([await sale.statusOf(id), await sale.statusOf(waiting)]).toEqual(['completed', 'completed']);
  });

  test('that takes over waits for the other keys of every fund, not only of the first that it is used for', async () => {
    const lonely = solanaKey('fund without other keys').address;
    setMultisig(sale.solana, lonely, [operator.address]);
    const buyer = await sale.buyer('lonely fund');
    const id = await sale.participate(buyer, 2n * UNIT);
    await sale.app.ctx.db
      .updateTable('participations')
      .set({ fund_address: lonely })
      .where('id', '=', id)
      .execute();
    sale.approve(buyer, 2n * UNIT, { delegate: lonely });
    await forgetHeights(operator);
    await solanaWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('pending');
    await waitOut(operator);
    await complete(operator);
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('stops signing when a key of its funds was started after it', async () => {
    await forgetHeights(standby);
    const before = await sale.participate(await sale.buyer('overlap'), 2n * UNIT);
    await solanaWorker(sale, { signer: standby }).settle();
    await solanaWorker(sale).settle();
    expect(await sale.statusOf(before)).toBe('pending');
    await waitOut(operator);
    await complete(operator);
    expect(await sale.statusOf(before)).toBe('completed');
  });
});
