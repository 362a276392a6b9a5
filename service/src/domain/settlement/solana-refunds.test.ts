import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { expect, test } from 'vitest';
import { setTokenAccount } from '../../../test/support/solana-accounts.ts';
import {
  FINALITY_SLOTS,
  keyOfSeed,
  solanaWorker,
  UNIT,
  useSolanaSale,
  VAULT,
} from '../../../test/support/solana-sale.ts';
import { SigningRefused } from '../../platform/operator/receipt-policy.ts';
import { localSolanaSigner, type SolanaSigner } from '../../platform/operator/solana-signer.ts';
import { requestRemit } from '../participations/refunds.ts';

const sale = useSolanaSale();
const AMOUNT = 10n * UNIT;
const vaultOwner = keyOfSeed(solanaRoles.vaultOwner.seed);

async function complete(): Promise<void> {
  await solanaWorker(sale).settle();
  sale.mine(FINALITY_SLOTS + 1);
  await solanaWorker(sale).settle();
}

/** Gives the vault a balance of `amount`, and lets the fund refund up to `amount` from the vault. */
function fundVault(amount: bigint): void {
  setTokenAccount(sale.solana, VAULT, vaultOwner.address, amount);
  sale.approve(vaultOwner, amount, { source: VAULT });
  sale.mine(FINALITY_SLOTS + 1);
}

async function buy(name: string): Promise<string> {
  const id = await sale.participate(await sale.buyer(name), AMOUNT);
  await complete();
  return id;
}

/** Returns which of the participations have a refund transaction. */
async function listSent(ids: readonly string[]): Promise<string[]> {
  const rows = await sale.app.ctx.db
    .selectFrom('participations')
    .select('id')
    .where('id', 'in', ids)
    .where('remit_id', 'is not', null)
    .execute();
  return rows.map(({ id }) => id).sort();
}

test('a refund that cannot be signed does not reserve what the vault holds', async () => {
  const [refused, other] = [await buy('refused'), await buy('other')];
  fundVault(AMOUNT);
  for (const id of [refused, other]) await requestRemit(sale.app.ctx, id);
  const own = localSolanaSigner(solanaRoles.operator.seed);
  const signTransaction: SolanaSigner['signTransaction'] = async (message, check) => {
    if (Buffer.from(message).includes(refused)) throw new SigningRefused('the test says so');
    return own.signTransaction(message, check);
  };
  await solanaWorker(sale, { signer: { ...own, signTransaction } }).round();
  expect(await listSent([refused, other])).toEqual([other]);
  fundVault(2n * AMOUNT);
  await complete();
  await complete();
  expect(await sale.statusOf(refused)).toBe('remitted');
});
