import { base58 } from '@scure/base';
import { keyOf, receiptAddress, TOKEN_PROGRAM } from '../../platform/chain/solana/addresses.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import { readTransaction } from '../../platform/chain/solana/executed-transaction.ts';
import { readAccounts, readEpoch, readSignatures } from '../../platform/chain/solana/reads.ts';
import { isSignedByEd25519 } from '../../platform/chain/solana/signed-message.ts';
import { readMultisig } from '../../platform/chain/solana/token-accounts.ts';
import { parseTransaction } from '../../platform/chain/solana/wire-transaction.ts';
import type { Db } from '../../platform/db/pool.ts';
import { isReceiptOf } from '../../platform/operator/receipt-follow.ts';
import { assertReceiptAllowed } from '../../platform/operator/receipt-policy.ts';
import { listForeignTransactions } from '../../platform/operator/watch-store.ts';
import { type ChainReport, finishReport, type ReportedDifference } from './reconcile-report.ts';
import {
  type BookedReceipt,
  type BookedSolanaRow,
  listSolanaRows,
  listUnrecorded,
} from './reconcile-solana-store.ts';
import { listSlugs } from './reconcile-store.ts';
import { orderOf } from './solana-parts.ts';
import { compareVaults } from './solana-vaults.ts';

type Kind = 'commit' | 'remit';

const TRANSFER_CHECKED = 12;

const COMMITTED = new Set(['completed', 'remit_submitted', 'remitted', 'remit_failed']);

/**
 * Compares every participation on a cluster with its signed transactions and with its receipts (the accounts that its
 * commit and its refund created on the chain). Looks for receipts from every key that can sign for the participation's
 * fund. Shows vault balances, but never counts them as differences, because the owner of a vault may withdraw.
 */
export async function buildSolanaReport(db: Db, chain: SolanaChain): Promise<ChainReport> {
  const { rows, slot, differences } = await compareReceipts(db, chain);
  const slugsOf = (vault: string) => rows.filter((row) => row.vault === vault).map(({ slug }) => slug);
  const vaults = await compareVaults(db, chain);
  return finishReport({
    ...{ chain: chain.name, from_block: '0', to_block: String(slot) },
    ...{ lost_transactions: [], slugs: rows.map(({ slug }) => slug) },
    differences: [
      ...differences.map(({ offerIds: _ids, ...difference }) => difference),
      ...(await findForeign(db, chain.name)),
    ],
    funds: vaults.map(({ vault, balance, settled, moved }) => ({
      ...{ fund: vault, token: rows.find((row) => row.vault === vault)?.token ?? '' },
      ...{ offers: [...new Set(slugsOf(vault))], agrees: true },
      chain: { balance: String(balance), moved_by_others: String(moved) },
      database: { settled: String(settled) },
    })),
  });
}

type ReceiptDifference = ReportedDifference & { offerIds: string[] };

/**
 * Compares participations with their receipts. `chosen` lists the ids of the participations; null means all. If a
 * participation differs, compares it a second time, because the worker may have settled it during the first comparison.
 * A successful transaction that belongs to no participation is a difference too.
 */
export async function compareReceipts(
  db: Db,
  chain: SolanaChain,
  chosen: readonly string[] | null = null,
): Promise<{ rows: BookedSolanaRow[]; slot: bigint; differences: ReceiptDifference[] }> {
  const { slot } = await readEpoch(chain);
  const rows = await listSolanaRows(db, chain.name, chosen);
  const suspects = await findDifferences(chain, rows);
  const ids = suspects.flatMap(({ participation_ids }) => participation_ids);
  const again = ids.length === 0 ? [] : await listSolanaRows(db, chain.name, ids);
  const differences = [...(await findDifferences(chain, again)), ...(await findMissingRows(db, chain.name))];
  return { rows, slot, differences };
}

/** Returns a difference for every successful transaction that belongs to no participation. */
async function findMissingRows(db: Db, chain: string): Promise<ReceiptDifference[]> {
  const unrecorded = await listUnrecorded(db, chain);
  const slugs = await listSlugs(
    db,
    unrecorded.flatMap(({ offerIds }) => offerIds),
  );
  return unrecorded.map(({ kind, fund, hash, offerIds }) => ({
    ...{ offers: offerIds.map((id) => slugs.get(id) ?? id), offerIds, fund, participation_ids: [] },
    transaction_hashes: hash === null ? [] : [hash],
    message: `the ${kind} ${hash ?? ''} succeeded, but no participation records it`,
  }));
}

/**
 * Returns a difference for every foreign transaction: one that was signed with a fund's key but not sent by this
 * service. Only the report includes these differences. The background comparison leaves them out, because `watchFunds`
 * raises an alert about foreign transactions until an operator runs `solana adopt`.
 */
async function findForeign(db: Db, chain: string): Promise<ReportedDifference[]> {
  return (await listForeignTransactions(db, chain)).map(({ signature, address, participationId }) => ({
    ...{ offers: [], fund: address, transaction_hashes: [signature] },
    participation_ids: participationId === null ? [] : [participationId],
    message: `the transaction ${signature} from ${address} was not sent by this service`,
  }));
}

async function findDifferences(
  chain: SolanaChain,
  rows: readonly BookedSolanaRow[],
): Promise<ReceiptDifference[]> {
  if (rows.length === 0) return [];
  const slots = rows.flatMap(({ commit, remit }) => [commit?.slot ?? 0n, remit?.slot ?? 0n]);
  const { slot } = await readEpoch(chain);
  // Requires a node that has reached the slot of our last settlement. A node that lags behind does not have the receipt
  // of that settlement yet.
  const minSlot = slots.reduce((highest, each) => (each > highest ? each : highest), slot);
  const signersOf = await readSigners(chain, rows);
  const candidates = rows.flatMap((row) =>
    (['commit', 'remit'] as const).flatMap((kind) =>
      [...(signersOf.get(row.fund) ?? [])].map((signer) => ({
        ...{ row, kind, signer, receipt: receiptAddress(signer, row.id, kind) },
      })),
    ),
  );
  const accounts = await readAccounts(
    chain,
    candidates.map(({ receipt }) => receipt),
    { commitment: 'finalized', minSlot },
  );
  const landed = new Map(
    candidates.flatMap(({ row, kind, signer, receipt }, i) =>
      isReceiptOf(signer, accounts[i] ?? null) ? [[`${kind} ${row.id}`, receipt]] : [],
    ),
  );
  const found: ReceiptDifference[] = [];
  for (const row of rows) {
    const message = await findProblem(chain, row, (kind) => landed.get(`${kind} ${row.id}`) ?? null);
    if (message === null) continue;
    const hashes = [row.commit?.hash, row.remit?.hash].flatMap((hash) => hash ?? []);
    found.push({
      ...{ offers: [row.slug], offerIds: [row.offerId], fund: row.fund },
      ...{ participation_ids: [row.id], transaction_hashes: hashes },
      message: `participation ${row.id} ${message}`,
    });
  }
  return found;
}

/**
 * Returns the signers of each fund: the keys that can sign for it now, and the keys that have signed for one of its
 * rows.
 */
async function readSigners(
  chain: SolanaChain,
  rows: readonly BookedSolanaRow[],
): Promise<Map<string, Set<string>>> {
  const funds = [...new Set(rows.map(({ fund }) => fund))];
  const accounts = await readAccounts(chain, funds, { commitment: 'finalized' });
  const signers = new Map(
    funds.map((fund, i) => [fund, new Set(readMultisig(accounts[i] ?? null)?.signers)]),
  );
  for (const { fund, commit, remit } of rows)
    for (const each of [commit, remit]) if (each !== null) signers.get(fund)?.add(each.signer);
  return signers;
}

/**
 * Returns how a row contradicts its receipts or its signed transactions, or null if it contradicts neither. `receiptOf`
 * returns the address of the row's receipt, or null if there is no such receipt on the chain.
 */
async function findProblem(
  chain: SolanaChain,
  row: BookedSolanaRow,
  receiptOf: (kind: Kind) => string | null,
): Promise<string | null> {
  const { commit, remit, status, committed } = row;
  if (commit?.state !== 'open' && COMMITTED.has(status) !== (committed === true))
    return `is ${status}, but records ${committed === true ? 'a' : 'no'} commit`;
  const recorded = { commit: committed === true, remit: status === 'remitted' };
  for (const [kind, transaction] of [
    ['commit', commit],
    ['remit', remit],
  ] as const) {
    if (transaction?.state === 'open') continue;
    const receipt = receiptOf(kind);
    if (!recorded[kind]) {
      if (receipt !== null) return `records no ${kind}, but its receipt is on the chain`;
      continue;
    }
    // A closed receipt is no longer on the chain. Its row is compared only with the signed bytes.
    if (receipt === null && transaction?.isClosed !== true)
      return `records a ${kind} that has no receipt on the chain`;
    if (transaction === null) return `records a ${kind} without a transaction`;
    if (!(await isSigned(row, kind, transaction))) return `differs from the ${kind} that was signed for it`;
    // The database does not have the signed bytes of an adopted transaction, so the row is compared with the
    // transaction on the chain.
    const isAdopted = transaction.raws.length === 0 && receipt !== null;
    if (isAdopted && (await isMovedOtherwise(chain, row, kind, receipt)))
      return `differs from the ${kind} on the chain`;
  }
  return null;
}

/**
 * Checks the stored attempts of a transaction. Every attempt must be correctly signed and settle exactly this row. If a
 * signature is recorded, one of the attempts must have it. Returns true if no attempt is stored.
 */
async function isSigned(
  row: BookedSolanaRow,
  kind: Kind,
  { signer, raws, hash }: BookedReceipt,
): Promise<boolean> {
  const known = new Set<string>();
  for (const raw of raws) {
    try {
      const { message, signatures } = parseTransaction(raw);
      const { plan, vault } = orderOf(kind, row);
      assertReceiptAllowed(signer, { plan, vault }, message);
      const [signature = Buffer.alloc(0)] = signatures;
      if (!(await isSignedByEd25519(Buffer.from(keyOf(signer)), message, signature))) return false;
      known.add(base58.encode(signature));
    } catch {
      return false;
    }
  }
  return raws.length === 0 || hash === null || known.has(hash);
}

/**
 * Looks up the transaction that created the receipt. Returns whether it made transfers for the fund, but none that
 * matches the row. Returns false if no node has the transaction any more, because nodes delete old transactions.
 */
async function isMovedOtherwise(
  chain: SolanaChain,
  row: BookedSolanaRow,
  kind: Kind,
  receipt: string,
): Promise<boolean> {
  const { fund, source, mint, destination, amount } = orderOf(kind, row).plan;
  const history = await readSignatures(chain, receipt, { before: null, until: null, limit: 1_000 });
  for (const { signature } of history.filter(({ isFailed }) => !isFailed).toReversed()) {
    const found = await readTransaction(chain, signature);
    const moves = (found?.instructions ?? []).filter(
      ({ program, data, accounts }) =>
        program === TOKEN_PROGRAM && data[0] === TRANSFER_CHECKED && accounts[3] === fund,
    );
    if (moves.length === 0) continue;
    return !moves.some(
      ({ accounts: [from, of, to], data }) =>
        from === source && of === mint && to === destination && data.readBigUInt64LE(1) === amount,
    );
  }
  return false;
}
