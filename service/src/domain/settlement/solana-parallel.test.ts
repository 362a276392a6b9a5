import { setTimeout as sleep } from 'node:timers/promises';
import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { expect, test } from 'vitest';
import { MINT } from '../../../test/support/solana-instructions.ts';
import {
  FINALITY_SLOTS,
  FUND,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { associatedAccount, keyOf } from '../../platform/chain/solana/addresses.ts';
import { SigningRefused } from '../../platform/operator/receipt-policy.ts';
import { localSolanaSigner, type SolanaSigner } from '../../platform/operator/solana-signer.ts';
import { requestRemit } from '../participations/refunds.ts';
import { rememberExpiry } from './solana-exclusion.ts';

const sale = useSolanaSale();

/**
 * Signs with the operator's key, and records how many signatures are in progress at the same time, in total
 * and per source account.
 */
function countingSigner(sources: readonly string[]) {
  const own = localSolanaSigner(solanaRoles.operator.seed);
  const running: string[] = [];
  const peaks = { all: 0, perSource: 0 };
  const signTransaction: SolanaSigner['signTransaction'] = async (message, check) => {
    const source = sources.find((each) => Buffer.from(message).includes(Buffer.from(keyOf(each)))) ?? '';
    running.push(source);
    peaks.all = Math.max(peaks.all, running.length);
    peaks.perSource = Math.max(peaks.perSource, running.filter((each) => each === source).length);
    await sleep(50);
    running.splice(running.indexOf(source), 1);
    return own.signTransaction(message, check);
  };
  return { signer: { ...own, signTransaction }, peaks };
}

test('commits of several wallets are sent at once, within a bound, and those of one wallet in turn', async () => {
  const before = sale.balanceOf(VAULT);
  const ids: string[] = [];
  const sources: string[] = [];
  for (let i = 0; i < 6; i++) {
    const buyer = await sale.buyer(`parallel ${i}`);
    sources.push(associatedAccount(buyer.address, MINT));
    ids.push(await sale.participate(buyer, 5n * UNIT));
  }
  const buyer = await sale.buyer('parallel 0');
  const hash = sale.approve(buyer, 12n * UNIT);
  const { body } = await sale.post(buyer, 7n * UNIT, hash);
  ids.push(String(body.id));
  const { signer, peaks } = countingSigner(sources);
  await solanaWorker(sale, { signer }).settle();
  expect(peaks.all).toBeGreaterThan(1);
  expect(peaks.all).toBeLessThanOrEqual(4);
  expect(peaks.perSource).toBe(1);
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
  expect(await Promise.all(ids.map((id) => sale.statusOf(id)))).toEqual(ids.map(() => 'completed'));
  expect(sale.balanceOf(VAULT) - before).toBe(37n * UNIT);
});

test('a fund none of whose rows can be signed is skipped for a while, so that other funds get a turn', async () => {
  const ids: string[] = [];
  for (let i = 0; i < 8; i++) ids.push(await sale.participate(await sale.buyer(`refused ${i}`), UNIT));
  const statuses = () => Promise.all(ids.map((id) => sale.statusOf(id)));
  const signTransaction = () => Promise.reject(new SigningRefused('the test says so'));
  const refusing = () =>
    solanaWorker(sale, { signer: { ...localSolanaSigner(solanaRoles.operator.seed), signTransaction } });
  const commits = refusing();
  await commits.round();
  expect(await statuses()).toEqual(ids.map(() => 'pending'));
  expect([...commits.worker.skippedFunds.commit.keys()]).toEqual([FUND]);
  await solanaWorker(sale).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
  expect(await statuses()).toEqual(ids.map(() => 'completed'));
  for (const id of ids) await requestRemit(sale.app.ctx, id);
  const refunds = refusing();
  await refunds.round();
  expect([...refunds.worker.skippedFunds.refund.keys()]).toEqual([FUND]);
  const usual = solanaWorker(sale);
  await usual.settle();
  sale.mine(FINALITY_SLOTS + 1);
  await usual.settle();
  expect(await statuses()).toEqual(ids.map(() => 'remitted'));
  expect([...usual.worker.skippedFunds.refund.keys()]).toEqual([]);
});

test('expiries of rows that nothing asks for any more are forgotten', () => {
  const expiries = new Map<string, bigint>();
  for (let i = 0; i < 1_000; i++) rememberExpiry(expiries, `row ${i}`, BigInt(i) * 100n);
  expect(expiries.get('row 999')).toBe(99_900n);
  expect(expiries.size).toBeLessThan(100);
});
