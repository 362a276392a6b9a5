import { isAgreed } from '../chain/agreement.ts';
import { receiptAddress } from '../chain/solana/addresses.ts';
import { listTokenInstructions } from '../chain/solana/approvals.ts';
import { providerViews, type SolanaChain } from '../chain/solana/client.ts';
import { readTransaction } from '../chain/solana/executed-transaction.ts';
import { readEpoch } from '../chain/solana/reads.ts';
import { MalformedTransaction } from '../chain/solana/wire-transaction.ts';
import type { Context } from '../context.ts';
import { invalidField } from '../errors.ts';
import { newId } from '../http/ids.ts';
import { adoptPaidRefund } from '../operator/adopt-receipt.ts';
import { changeStatus } from '../participations/status.ts';
import { countRecorded, lockPaidRow, setPaidRefund } from './paid-refund-store.ts';
import { orderOf } from './solana-parts.ts';
import type { SettlementRow } from './store.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

const TRANSFER = 3;
const TRANSFER_CHECKED = 12;
const REFUNDABLE = ['completed', 'remit_submitted', 'remit_failed'] as const;

/**
 * Records that a foreign transaction (one that this service did not send) has paid a participation's refund, so that
 * the service does not pay it again. Throws unless the transaction is finalized and has moved exactly the
 * participation's amount from its vault to its wallet. If the chain has several providers, two of them must show this.
 */
export async function recordPaidRefund(
  parts: Parts,
  chain: SolanaChain,
  id: string,
  signature: string,
): Promise<void> {
  await parts.db.transaction().execute(async (tx) => {
    const row = await lockPaidRow(tx, id);
    if (row?.chain !== chain.name) throw invalidField('id', `${id} is no participation on ${chain.name}`);
    const { signer, status, refundState } = row;
    if (signer === null || row.committed !== true || !REFUNDABLE.some((each) => each === status))
      throw invalidField('status', `participation ${id} is ${status}; it has no refund to pay`);
    if (refundState !== null && refundState !== 'displaced')
      throw invalidField('status', `this service has already sent the refund of participation ${id}`);
    const { count, isOwn } = await countRecorded(tx, signature, row);
    const judge = async (view: SolanaChain) =>
      (await countPayments(view, signature, row)) > count ? 'paid' : 'not paid';
    const isPaid =
      !isOwn && (await judge(chain)) === 'paid' && (await isAgreed(providerViews(chain), 'paid', judge));
    if (!isPaid)
      throw invalidField(
        'signature',
        `no finalized transaction ${signature} has moved ${row.amount} (smallest units) from ${row.vault} to the wallet for this refund alone`,
      );
    // The column requires a unique receipt. This receipt is derived from the fund, so that it differs from the receipts
    // of all keys.
    const receipt = receiptAddress(row.fund, id, 'remit');
    const transaction = { id: newId(parts.clock, parts.random), receipt, fund: row.fund, signature };
    await adoptPaidRefund(tx, { chain: chain.name, address: signer }, transaction);
    await setPaidRefund(tx, id, transaction.id);
    await changeStatus(parts, tx, { ids: [id], from: REFUNDABLE, to: 'remitted' });
  });
}

/** Counts the transfers in the finalized transaction that move the refund's amount from the vault to the wallet. */
async function countPayments(chain: SolanaChain, signature: string, row: SettlementRow): Promise<number> {
  const found = await readTransaction(chain, signature).catch((error: unknown) => {
    if (error instanceof MalformedTransaction) return null;
    throw error;
  });
  if (found === null || found.isFailed || found.slot > (await readEpoch(chain)).slot) return 0;
  const { source, mint, destination, amount } = orderOf('remit', row).plan;
  return listTokenInstructions(found.instructions).filter(({ data, accounts: [from, second, third] }) => {
    const isTransfer = data[0] === TRANSFER && second === destination;
    const isChecked = data[0] === TRANSFER_CHECKED && second === mint && third === destination;
    return from === source && (isTransfer || isChecked) && data.readBigUInt64LE(1) === amount;
  }).length;
}
