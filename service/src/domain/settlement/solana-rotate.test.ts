import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { afterEach, expect, test, vi } from 'vitest';
import { testConfig } from '../../../test/support/app.ts';
import { databaseUrlOf } from '../../../test/support/database-url.ts';
import { gaugesOf } from '../../../test/support/sale.ts';
import {
  backUpRow,
  EXPIRY_SLOTS,
  FINALITY_SLOTS,
  faucetKey,
  solanaKey,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { run as runOperator } from '../../edges/cli/operator-command.ts';
import { transferLamports } from '../../platform/chain/solana/instructions.ts';
import { localSolanaSigner } from '../../platform/operator/solana-signer.ts';
import type { RotationPlan } from './rotate.ts';
import { followRetired } from './round.ts';
import { createSolanaWorker } from './solana-driver.ts';

const CHAIN = 'solana_devnet';
const sale = useSolanaSale();
const operator = localSolanaSigner(solanaRoles.operator.seed);
const standby = localSolanaSigner(solanaRoles.standby.seed);
afterEach(() => {
  process.exitCode = undefined;
  vi.restoreAllMocks();
});

/** Runs `causeway operator rotate`, without any key. */
async function rotate(to: string, ...more: string[]): Promise<RotationPlan> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  log.mockClear();
  process.exitCode = undefined;
  const rpcUrls = { [CHAIN]: [sale.solana.nodes[0]?.url ?? ''] };
  const config = { ...testConfig(), databaseUrl: await databaseUrlOf(sale.app), rpcUrls };
  await runOperator(config, ['rotate', CHAIN, '--to', to, ...more]);
  return JSON.parse(log.mock.calls.flat().join(''));
}

/**
 * Creates the worker that the old key gets when the service restarts with a new key. This worker follows open
 * transactions and signs nothing.
 */
const retiredWorker = () => {
  const { ctx } = sale.app;
  const parts = { address: operator.address, signer: null, roles: [] };
  return createSolanaWorker(ctx, ctx.chains.solana(CHAIN), parts, gaugesOf(sale.app));
};

const signersOf = async (id: string) => {
  const rows = await sale.app.ctx.db
    .selectFrom('operator_transactions as t')
    .innerJoin('participations as p', 'p.commit_id', 't.id')
    .select('t.signer')
    .where('p.id', '=', id)
    .execute();
  return rows.map(({ signer }) => signer);
};

/** Runs rounds until the old key is allowed to sign a commit for the row. The nodes lose that commit. */
async function signAndLose(id: string): Promise<void> {
  sale.setFaults({ sending: 'lost' });
  for (let i = 0; i < 6 && (await sale.statusOf(id)) === 'pending'; i++) {
    sale.mine(100);
    await solanaWorker(sale, { signer: operator }).round();
  }
  sale.setFaults({ sending: 'now' });
  expect(await sale.statusOf(id)).toBe('submitted');
}

/**
 * Mines until everything that the old key may have signed has expired, and runs rounds of the standby key in between.
 */
async function waitOut(): Promise<void> {
  for (let i = 0; i < 4; i++) {
    sale.mine(100);
    await solanaWorker(sale, { signer: standby }).round();
  }
}

async function complete(): Promise<void> {
  await solanaWorker(sale, { signer: standby }).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale, { signer: standby }).settle();
}

test('rotate accepts the standby key of the funds, and names the funds that another key cannot sign for', async () => {
  const stranger = await rotate(solanaKey('stranger').address);
  expect(stranger).toMatchObject({ is_ready: false, funds: [{ missing: ['sign'] }] });
  expect(stranger.steps.join()).toContain("a fund's signers never change");
  expect(process.exitCode).toBe(1);
  expect((await rotate(standby.address)).steps.join()).toContain(`Send ${standby.address} the currency`);
  expect(process.exitCode).toBe(1);
  sale.land(faucetKey, [transferLamports(faucetKey.address, standby.address, 1_000_000_000n)]);
  sale.mine(FINALITY_SLOTS + 1);
  expect(await rotate(standby.address)).toMatchObject({ is_ready: true, funds: [{ missing: [] }] });
  expect(process.exitCode).toBeUndefined();
  const refund = await rotate(standby.address, '--role', 'refund');
  expect(refund).toMatchObject({ is_ready: true, funds: [{ missing: [] }] });
  expect(refund.steps.join()).toContain(`as "refund" for "${CHAIN}" in OPERATOR_KEYS_FILE`);
  await expect(rotate('0x00')).rejects.toThrow('--to');
});

test('a row that the old key has signed stays with it, while the new key settles the others', async () => {
  const before = sale.balanceOf(VAULT);
  const old = await sale.participate(await sale.buyer('old'), 3n * UNIT);
  await signAndLose(old);
  const next = await sale.participate(await sale.buyer('next'), 2n * UNIT);
  expect((await rotate(standby.address)).unfinished).toEqual([
    { address: operator.address, transactions: 1 },
  ]);
  await solanaWorker(sale, { signer: standby }).settle();
  expect([await sale.statusOf(old), await signersOf(old)]).toEqual(['submitted', [operator.address]]);
  // The retired worker sends the stored bytes again, without the key.
  await sale.app.ctx.db.updateTable('operator_attempts').set({ sent_at: null }).execute();
  await followRetired(retiredWorker());
  sale.mine(FINALITY_SLOTS + 1);
  await followRetired(retiredWorker());
  expect([await sale.statusOf(old), await signersOf(old)]).toEqual(['completed', [operator.address]]);
  await waitOut();
  await complete();
  expect([await sale.statusOf(next), await signersOf(next)]).toEqual(['completed', [standby.address]]);
  expect(sale.balanceOf(VAULT) - before).toBe(5n * UNIT);
  const { unfinished, steps } = await rotate(standby.address);
  expect(unfinished).toEqual([]);
  expect(steps.join()).toContain(`${operator.address} has nothing left to finish`);
});

test('a row whose signed transactions have all expired goes to the new key, which settles it once', async () => {
  const before = sale.balanceOf(VAULT);
  const buyer = await sale.buyer('expired');
  const id = await sale.participate(buyer, 3n * UNIT);
  // Approves enough for a second commit, so that the allowance would not prevent one.
  sale.approve(buyer, 500n * UNIT);
  await signAndLose(id);
  await solanaWorker(sale, { signer: standby }).settle();
  expect([await sale.statusOf(id), await signersOf(id)]).toEqual(['submitted', [operator.address]]);
  sale.mine(EXPIRY_SLOTS);
  await followRetired(retiredWorker());
  expect(await sale.statusOf(id)).toBe('pending');
  await waitOut();
  await complete();
  expect([await sale.statusOf(id), await signersOf(id)]).toEqual(['completed', [standby.address]]);
  expect(sale.balanceOf(VAULT) - before).toBe(3n * UNIT);
});

test('the new key pulls nothing that a receipt of the old key shows, although the database has lost its transaction', async () => {
  const buyer = await sale.buyer('forgotten');
  const id = await sale.participate(buyer, 4n * UNIT);
  // Approves enough for a second commit, so that the allowance would not prevent one.
  sale.approve(buyer, 500n * UNIT);
  const restore = await backUpRow(sale, id);
  for (let i = 0; i < 4; i++) {
    sale.mine(100);
    await solanaWorker(sale, { signer: operator }).round();
  }
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale, { signer: operator }).settle();
  expect(await sale.statusOf(id)).toBe('completed');
  const after = sale.balanceOf(VAULT);
  await restore();
  expect(await sale.statusOf(id)).toBe('pending');
  await waitOut();
  await complete();
  expect(await sale.statusOf(id)).toBe('completed');
  expect(sale.balanceOf(VAULT)).toBe(after);
});
