import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { NO_FAULTS } from '@causeway/sandbox/simulators/solana/node.ts';
import { describe, expect, test } from 'vitest';
import { setTokenAccount } from '../../../test/support/solana-accounts.ts';
import { freezeOrThaw, MINT, revoke, setOwner } from '../../../test/support/solana-instructions.ts';
import {
  backUpRow,
  EXPIRY_SLOTS,
  FINALITY_SLOTS,
  FUND,
  faucetKey,
  keyOfSeed,
  type SolanaKey,
  solanaKey,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { associatedAccount, keyOf, receiptAddress } from '../../platform/chain/solana/addresses.ts';
import { findClusterProblems } from '../../platform/chain/solana/client.ts';
import {
  closeAccount,
  memo,
  setComputeUnitPrice,
  transferChecked,
  transferLamports,
} from '../../platform/chain/solana/instructions.ts';
import { localSolanaSigner } from '../../platform/operator/solana-signer.ts';
import { adoptForeignTransactions } from '../../platform/operator/watch-store.ts';
import { requestRemit } from '../participations/refunds.ts';

const sale = useSolanaSale({ nodes: 2 });
const OPERATOR = solanaRoles.operator.address;

const vaultOwner = keyOfSeed(solanaRoles.vaultOwner.seed);

const receiptOf = (id: string, kind: 'commit' | 'remit' = 'commit') => receiptAddress(OPERATOR, id, kind);

/** Settles everything that is in progress and lets it become final. */
async function complete(): Promise<void> {
  await solanaWorker(sale).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
}

describe('a commit', () => {
  test('moves exactly the amount to the vault and completes once its receipt is final', async () => {
    const buyer = await sale.buyer('commit');
    const before = sale.balanceOf(VAULT);
    const id = await sale.participate(buyer, 100n * UNIT);
    expect(await sale.statusOf(id)).toBe('pending');
    await solanaWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('submitted');
    expect(sale.balanceOf(VAULT) - before).toBe(100n * UNIT);
    sale.mine(FINALITY_SLOTS - 2);
    await solanaWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('submitted');
    sale.mine(3);
    await solanaWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(sale.tokenAccount(receiptOf(id))?.owner).toBe(OPERATOR);
    const { body } = await sale.person.call('GET', `/v1/participations/${id}?include=transactions`);
    const { commit_hash, explorer_urls } = body.transactions as {
      commit_hash: string;
      explorer_urls: { commit: string };
    };
    expect(sale.solana.chain.ledger.find(commit_hash)?.err).toBeNull();
    expect(explorer_urls.commit).toBe(`https://explorer.solana.com/tx/${commit_hash}?cluster=devnet`);
  });

  test('succeeds although somebody has sent lamports to the address of its receipt', async () => {
    const buyer = await sale.buyer('lamports');
    const id = await sale.participate(buyer, 5n * UNIT);
    sale.land(buyer, [transferLamports(buyer.address, receiptOf(id), 890_880n)]);
    sale.mine(FINALITY_SLOTS + 1);
    await complete();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('is sent again until it lands, at most once, when nodes lose or delay it', async () => {
    const buyer = await sale.buyer('lost');
    const before = sale.balanceOf(VAULT);
    const id = await sale.participate(buyer, 7n * UNIT);
    sale.setFaults({ sending: 'lost' });
    await solanaWorker(sale).settle();
    expect(sale.balanceOf(VAULT)).toBe(before);
    sale.setFaults({ sending: { lateBySlots: 20 } });
    await solanaWorker(sale, { timings: { renewSeconds: -1 } }).round();
    await solanaWorker(sale, { timings: { resendSeconds: -1 } }).round();
    sale.setFaults({ sending: 'now' });
    await solanaWorker(sale, { timings: { renewSeconds: -1 } }).round();
    sale.mine(40);
    await complete();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(sale.balanceOf(VAULT) - before).toBe(7n * UNIT);
  });

  test('stays submitted when its block is rolled back, and lands again', async () => {
    const buyer = await sale.buyer('rollback');
    const before = sale.balanceOf(VAULT);
    const id = await sale.participate(buyer, 9n * UNIT);
    sale.mine(FINALITY_SLOTS + 1);
    await solanaWorker(sale).settle();
    sale.solana.chain.rollBack(1, 'drop');
    sale.mine(1);
    expect(sale.balanceOf(VAULT)).toBe(before);
    await solanaWorker(sale).round();
    expect(await sale.statusOf(id)).toBe('submitted');
    await solanaWorker(sale, { timings: { resendSeconds: -1 } }).round();
    await complete();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(sale.balanceOf(VAULT) - before).toBe(9n * UNIT);
  });

  test('fails without a transaction if the account is frozen, spent or closed before it is signed', async () => {
    const [frozen, spent] = [await sale.buyer('frozen'), await sale.buyer('spent')];
    const ids = [await sale.participate(frozen, 10n * UNIT), await sale.participate(spent, 1_000n * UNIT)];
    sale.land(faucetKey, [freezeOrThaw(10, associatedAccount(frozen.address, MINT))]);
    setTokenAccount(sale.solana, associatedAccount(spent.address, MINT), spent.address, 0n);
    sale.mine(2);
    const { settle } = solanaWorker(sale);
    await settle();
    sale.mine(2 * EXPIRY_SLOTS);
    await settle();
    expect(await Promise.all(ids.map(sale.statusOf))).toEqual(['failed', 'failed']);
  });

  test('is not repeated by a database that was restored from before it, nor by the standby key', async () => {
    const buyer = await sale.buyer('restored');
    const id = await sale.participate(buyer, 20n * UNIT);
    // Approves enough for a second commit, so that the allowance would not prevent one.
    sale.approve(buyer, 500n * UNIT);
    const restore = await backUpRow(sale, id);
    await complete();
    expect(await sale.statusOf(id)).toBe('completed');
    const after = sale.balanceOf(VAULT);
    for (const signer of [solanaRoles.operator, solanaRoles.standby]) {
      await restore();
      await solanaWorker(sale, { signer: localSolanaSigner(signer.seed) }).settle();
      expect(await sale.statusOf(id)).toBe('completed');
      expect(sale.balanceOf(VAULT)).toBe(after);
    }
  });

  test('is not repeated when nodes forget their history or lag behind', async () => {
    const buyer = await sale.buyer('history');
    const before = sale.balanceOf(VAULT);
    const id = await sale.participate(buyer, 12n * UNIT);
    sale.approve(buyer, 900n * UNIT);
    await solanaWorker(sale).settle();
    sale.setFaults({ hasHistory: false });
    for (let i = 0; i < 3; i++) await solanaWorker(sale, { timings: { renewSeconds: -1 } }).round();
    sale.mine(FINALITY_SLOTS + 1);
    await solanaWorker(sale).settle();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(sale.balanceOf(VAULT) - before).toBe(12n * UNIT);
  });

  test('does not wait for an older one of a fund that cannot be used', async () => {
    const [stuck, good] = [await sale.buyer('no fund'), await sale.buyer('good fund')];
    const older = await sale.participate(stuck, 2n * UNIT);
    const id = await sale.participate(good, 2n * UNIT);
    const change = { fund_address: solanaKey('no fund').address };
    await sale.app.ctx.db.updateTable('participations').set(change).where('id', '=', older).execute();
    await complete();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(await sale.statusOf(older)).not.toBe('completed');
  });

  test('of two workers with separate leases happens once', async () => {
    const buyers = await Promise.all([1, 2, 3, 4, 5].map((i) => sale.buyer(`parallel ${i}`)));
    const before = sale.balanceOf(VAULT);
    const ids: string[] = [];
    for (const buyer of buyers) {
      ids.push(await sale.participate(buyer, 3n * UNIT));
    }
    await Promise.all(
      [1, 2].map((node) =>
        solanaWorker(sale, { node })
          .settle()
          .catch(() => undefined),
      ),
    );
    await complete();
    for (const id of ids) expect(await sale.statusOf(id)).toBe('completed');
    expect(sale.balanceOf(VAULT) - before).toBe(15n * UNIT);
  });
});

describe('keys', () => {
  const standby = localSolanaSigner(solanaRoles.standby.seed);

  test('a crash between signing and storing sends nothing, and the next worker settles the row', async () => {
    const buyer = await sale.buyer('crash');
    const id = await sale.participate(buyer, 4n * UNIT);
    const operator = localSolanaSigner(solanaRoles.operator.seed);
    const crashing = {
      ...operator,
      signTransaction: async (...args: Parameters<typeof operator.signTransaction>) => {
        await operator.signTransaction(...args);
        throw new Error('crash');
      },
    };
    await expect(solanaWorker(sale, { signer: crashing }).settle()).rejects.toThrow('crash');
    expect(await sale.statusOf(id)).toBe('pending');
    await complete();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('a held user is not committed, also not by another attempt', async () => {
    const buyer = await sale.buyer('held');
    const before = sale.balanceOf(VAULT);
    const id = await sale.participate(buyer, 4n * UNIT);
    sale.setFaults({ sending: 'lost' });
    await solanaWorker(sale).settle();
    const { db } = sale.app.ctx;
    const row = await db
      .selectFrom('participations')
      .select('user_id')
      .where('id', '=', id)
      .executeTakeFirstOrThrow();
    await db
      .updateTable('users')
      .set({ held_at: '2026-01-01T00:00:00Z' })
      .where('id', '=', row.user_id)
      .execute();
    sale.setFaults({ sending: 'now' });
    await solanaWorker(sale, { timings: { renewSeconds: -1 } }).round();
    expect(sale.balanceOf(VAULT)).toBe(before);
    await db.updateTable('users').set({ held_at: null }).where('id', '=', row.user_id).execute();
    await solanaWorker(sale, { timings: { renewSeconds: -1 } }).round();
    await complete();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('a transfer of a fund that this service did not send raises an alert until it is adopted', async () => {
    const buyer = await sale.buyer('foreign');
    const id = await sale.participate(buyer, 8n * UNIT);
    const thief = associatedAccount(solanaKey('thief').address, MINT);
    setTokenAccount(sale.solana, thief, solanaKey('thief').address, 0n);
    const source = associatedAccount(buyer.address, MINT);
    const transfer = { source, mint: MINT, destination: thief, authority: FUND, amount: UNIT, decimals: 6 };
    // The buyer pays the fee, so that the standby key needs no lamports.
    sale.land(
      buyer,
      [transferChecked({ ...transfer, signers: [standby.address] }), memo(id)],
      [keyOfSeed(solanaRoles.standby.seed)],
    );
    sale.mine(FINALITY_SLOTS + 1);
    await solanaWorker(sale).settle();
    const alert = /settlement_waiting\{[^}]*reason="foreign_transaction"[^}]*\} [1-9]/;
    expect(await sale.app.ctx.metrics.registry.metrics()).toMatch(alert);
    expect(await adoptForeignTransactions(sale.app.ctx.db, 'solana_devnet')).toHaveLength(1);
    const { settle } = solanaWorker(sale);
    await settle();
    sale.mine(2 * EXPIRY_SLOTS);
    await settle();
    expect(await sale.statusOf(id)).toBe('failed');
    expect(await sale.reasonOf(id)).toBe('insufficient_allowance');
  });
});

const waiting = async (reason: string) =>
  new RegExp(`settlement_waiting\\{[^}]*reason="${reason}"[^}]*\\} [1-9]`).test(
    await sale.app.ctx.metrics.registry.metrics(),
  );

describe('settlement waits with a reason', () => {
  test('while the operator has no SOL', async () => {
    const buyer = await sale.buyer('no gas');
    const id = await sale.participate(buyer, 2n * UNIT);
    const { svm } = sale.solana.chain;
    const account = svm.account(keyOf(OPERATOR));
    if (account === null) throw new Error('the operator has no account');
    svm.setAccount(keyOf(OPERATOR), { ...account, lamports: 1_000_000n });
    await solanaWorker(sale).settle();
    expect(await waiting('operator_out_of_gas')).toBe(true);
    expect(await sale.statusOf(id)).toBe('pending');
    svm.setAccount(keyOf(OPERATOR), account);
    await complete();
    expect(await sale.statusOf(id)).toBe('completed');
  });

  test('while two providers disagree about a large participation', async () => {
    const { config } = sale.app.ctx;
    config.settlementQuorumUsd = 0;
    const buyer = await sale.buyer('quorum');
    const id = await sale.participate(buyer, 2n * UNIT);
    await solanaWorker(sale).settle();
    sale.mine(FINALITY_SLOTS + 1);
    const [, second] = sale.solana.nodes;
    Object.assign(second?.faults ?? {}, { slotsBehind: 30 });
    await solanaWorker(sale).round();
    expect(await sale.statusOf(id)).toBe('submitted');
    expect(await waiting('providers_disagree')).toBe(true);
    Object.assign(second?.faults ?? {}, NO_FAULTS);
    await solanaWorker(sale).round();
    expect(await sale.statusOf(id)).toBe('completed');
    config.settlementQuorumUsd = 1_000;
  });

  test('while only one provider shows the receipt of a large participation that was not sent', async () => {
    const { config } = sale.app.ctx;
    const buyer = await sale.buyer('claimed');
    const id = await sale.participate(buyer, 2n * UNIT);
    const restore = await backUpRow(sale, id);
    await solanaWorker(sale).settle();
    const after = sale.balanceOf(VAULT);
    sale.mine(FINALITY_SLOTS + 1);
    await restore();
    config.settlementQuorumUsd = 0;
    const [, second] = sale.solana.nodes;
    Object.assign(second?.faults ?? {}, { slotsBehind: 30 });
    await solanaWorker(sale).round();
    expect(await sale.statusOf(id)).toBe('pending');
    expect(await waiting('providers_disagree')).toBe(true);
    Object.assign(second?.faults ?? {}, NO_FAULTS);
    await solanaWorker(sale).round();
    expect(await sale.statusOf(id)).toBe('completed');
    expect(sale.balanceOf(VAULT)).toBe(after);
    config.settlementQuorumUsd = 1_000;
  });
});

test('settlement goes on at the cap and raises an alert while somebody pays more to write to the vault', async () => {
  const buyer = await sale.buyer('fee cap');
  for (let i = 0; i < 60; i++) {
    sale.land(buyer, [setComputeUnitPrice(10n), transferLamports(buyer.address, VAULT, 1n)]);
    sale.mine(1);
  }
  const id = await sale.participate(buyer, 2n * UNIT);
  const { worker, settle } = solanaWorker(sale);
  worker.account.maxPrice = 5n;
  await settle();
  expect(await waiting('fee_cap')).toBe(true);
  expect(await sale.statusOf(id)).toBe('submitted');
  await complete();
  expect(await sale.statusOf(id)).toBe('completed');
});

test('an endpoint of another cluster is reported', async () => {
  const chain = sale.app.ctx.chains.solana('solana_devnet');
  expect(await findClusterProblems(chain)).toEqual([]);
  const elsewhere = { ...chain, facts: { ...chain.facts, genesisHash: 'another' } };
  expect(await findClusterProblems(elsewhere)).toEqual(
    Array.from({ length: 2 }, () => expect.stringContaining('serves the cluster with genesis hash')),
  );
});

describe('a refund', () => {
  const refund = (id: string) => requestRemit(sale.app.ctx, id);

  test('pays the associated account of the wallet once, even if it was closed and is asked for again', async () => {
    const buyer = await sale.buyer('refund');
    const source = associatedAccount(buyer.address, MINT);
    const id = await sale.participate(buyer, 1_000n * UNIT);
    await complete();
    sale.land(buyer, [closeAccount(source, buyer.address)]);
    sale.mine(2);
    expect(sale.tokenAccount(source)).toBeNull();
    await refund(id);
    await refund(id);
    await complete();
    expect(await sale.statusOf(id)).toBe('remitted');
    expect(sale.balanceOf(source)).toBe(1_000n * UNIT);
    await refund(id);
    await complete();
    expect(sale.balanceOf(source)).toBe(1_000n * UNIT);
  });

  test('fails if the account is frozen, and succeeds once it is not', async () => {
    const buyer = await sale.buyer('refund frozen');
    const account = associatedAccount(buyer.address, MINT);
    const id = await sale.participate(buyer, 10n * UNIT);
    await complete();
    sale.land(faucetKey, [freezeOrThaw(10, account)]);
    sale.mine(2);
    await refund(id);
    await complete();
    expect(await sale.statusOf(id)).toBe('remit_failed');
    expect(await sale.reasonOf(id)).toBe('refund_account_frozen');
    sale.land(faucetKey, [freezeOrThaw(11, account)]);
    sale.mine(2);
    await refund(id);
    await complete();
    expect(await sale.statusOf(id)).toBe('remitted');
  });

  test('fails if the associated account has another owner', async () => {
    const buyer = await sale.buyer('refund reowned');
    const id = await sale.participate(buyer, 10n * UNIT);
    await complete();
    const account = associatedAccount(buyer.address, MINT);
    sale.land(buyer, [setOwner(account, buyer.address, solanaKey('thief').address)]);
    sale.mine(2);
    await refund(id);
    await complete();
    expect(await sale.reasonOf(id)).toBe('refund_account_reowned');
  });

  test('waits while the refund allowance of the vault is too small', async () => {
    const buyer = await sale.buyer('allowance');
    const id = await sale.participate(buyer, 10n * UNIT);
    await complete();
    sale.land(vaultOwner, [revoke(VAULT, vaultOwner.address)]);
    sale.mine(2);
    await refund(id);
    await complete();
    expect(await sale.statusOf(id)).toBe('remit_submitted');
    expect(await sale.app.ctx.metrics.registry.metrics()).toMatch(
      /settlement_waiting\{[^}]*reason="refund_allowance"[^}]*\} [1-9]/,
    );
    sale.approve(vaultOwner, 1_000_000n * UNIT, { source: VAULT, delegate: FUND });
    await complete();
    await complete();
    expect(await sale.statusOf(id)).toBe('remitted');
  });

  test('waits while the vault holds too little', async () => {
    const buyer = await sale.buyer('vault balance');
    const id = await sale.participate(buyer, 10n * UNIT);
    await complete();
    const account = associatedAccount(buyer.address, MINT);
    const amount = sale.balanceOf(VAULT);
    const move = (owner: SolanaKey, source: string, destination: string) => {
      const transfer = { source, destination, mint: MINT, authority: owner.address, signers: [] };
      sale.land(owner, [transferChecked({ ...transfer, amount, decimals: 6 })]);
      sale.mine(2);
    };
    move(vaultOwner, VAULT, account);
    await refund(id);
    await complete();
    expect(await sale.statusOf(id)).toBe('remit_submitted');
    const metrics = await sale.app.ctx.metrics.registry.metrics();
    expect(metrics).toMatch(/settlement_waiting\{[^}]*reason="vault_balance"[^}]*\} [1-9]/);
    expect(metrics).not.toMatch(/settlement_waiting\{[^}]*reason="refund_allowance"[^}]*\} [1-9]/);
    move(buyer, account, VAULT);
    await complete();
    await complete();
    expect(await sale.statusOf(id)).toBe('remitted');
  });
});
