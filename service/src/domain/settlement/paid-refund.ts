import { invalidField } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { isAgreed } from '../../platform/chain/agreement.ts';
import { receiptAddress } from '../../platform/chain/solana/addresses.ts';
import { listTokenInstructions } from '../../platform/chain/solana/approvals.ts';
import { providerViews, type SolanaChain } from '../../platform/chain/solana/client.ts';
import { readTransaction } from '../../platform/chain/solana/executed-transaction.ts';
import { readEpoch, readSignatures } from '../../platform/chain/solana/reads.ts';
import { MalformedTransaction } from '../../platform/chain/solana/wire-transaction.ts';
import type { Context } from '../../platform/context/context.ts';
import { hasReceipt } from '../../platform/operator/receipt-message.ts';
import { adoptPaidRefund } from '../../platform/operator/receipt-store.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { countRecorded, lockPaidRow, setPaidRefund } from './paid-refund-store.ts';
import { orderOf } from './solana-parts.ts';
import type { SettlementRow } from './store.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

const TRANSFER = 3;
const TRANSFER_CHECKED = 12;
const REFUNDABLE = ['completed', 'remit_submitted', 'remit_failed'] as const;

/**
 * Records that a foreign transaction (one that this service did not send) has paid a participation's refund, so that
 * the service does not pay it again. Throws unless the transaction is finalized, is newer than the participation's
 * commit and has moved exactly the participation's amount from its vault to its wallet. If the chain has several
 * providers, two of them must show this.
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
    const { commit, status, refundState } = row;
    if (commit === null || row.committed !== true || !REFUNDABLE.some((each) => each === status))
      throw invalidField('status', `participation ${id} is ${status}; it has no refund to pay`);
    if (refundState !== null && refundState !== 'displaced')
      throw invalidField('status', `this service has already sent the refund of participation ${id}`);
    const count = await countRecorded(tx, signature, row);
    const judge = async (view: SolanaChain) => {
      const { slot, payments } = await readPayments(view, signature, row);
      if (payments <= count) return 'not paid';
      // The recorded slot can be later than the commit's, but never earlier.
      if (commit.slot !== null && slot > commit.slot) return 'paid';
      return slot > (await readCommitSlot(view, commit.receipt)) ? 'paid' : 'too old';
    };
    const verdict = await judge(chain);
    if (verdict === 'too old')
      throw invalidField(
        'signature',
        `transaction ${signature} is older than the commit of participation ${id}, so it did not pay its refund`,
      );
    if (verdict !== 'paid' || !(await isAgreed(providerViews(chain), 'paid', judge)))
      throw invalidField(
        'signature',
        `no finalized transaction ${signature} has moved ${row.amount} (smallest units) from ${row.vault} to the wallet for this refund alone`,
      );
    // The column requires a unique receipt. This receipt is derived from the fund, so that it differs from the receipts
    // of all keys.
    const receipt = receiptAddress(row.fund, id, 'remit');
    const transaction = { id: newId(parts.clock, parts.random), receipt, fund: row.fund, signature };
    await adoptPaidRefund(tx, { chain: chain.name, address: commit.signer }, transaction);
    await setPaidRefund(tx, id, transaction.id);
    await changeStatus(parts, tx, { ids: [id], from: REFUNDABLE, to: 'remitted' });
  });
}

/**
 * Counts the transfers in the finalized transaction that move the refund's amount from the vault to the wallet. Counts
 * none in a transaction that creates a receipt: the service or a copy of it sent that transaction, and the receipt tells
 * which participation it refunds.
 */
async function readPayments(
  chain: SolanaChain,
  signature: string,
  row: SettlementRow,
): Promise<{ slot: bigint; payments: number }> {
  const found = await readTransaction(chain, signature).catch((error: unknown) => {
    if (error instanceof MalformedTransaction) return null;
    throw error;
  });
  const isFinal = found !== null && !found.isFailed && found.slot <= (await readEpoch(chain)).slot;
  if (!isFinal || hasReceipt(found.instructions)) return { slot: 0n, payments: 0 };
  const { source, mint, destination, amount } = orderOf('remit', row).plan;
  const payments = listTokenInstructions(found.instructions).filter(
    ({ data, accounts: [from, second, third] }) => {
      const isTransfer = data[0] === TRANSFER && second === destination;
      const isChecked = data[0] === TRANSFER_CHECKED && second === mint && third === destination;
      return from === source && (isTransfer || isChecked) && data.readBigUInt64LE(1) === amount;
    },
  );
  return { slot: found.slot, payments: payments.length };
}

/** Returns the slot in which the commit created its receipt. */
async function readCommitSlot(chain: SolanaChain, receipt: string): Promise<bigint> {
  const history = await readSignatures(chain, receipt, { before: null, until: null, limit: 1_000 });
  const oldest = history.findLast(({ isFailed }) => !isFailed);
  if (oldest === undefined)
    throw invalidField(
      'id',
      `no node of ${chain.name} has the transaction that created the receipt ${receipt}`,
    );
  return oldest.slot;
}
