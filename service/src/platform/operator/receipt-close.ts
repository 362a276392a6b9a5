import { setTimeout as sleep } from 'node:timers/promises';
import { encodeMessage, encodeTransaction } from '@causeway/contracts/encodings/solana-message.ts';
import { keyOf, TOKEN_PROGRAM } from '../chain/solana/addresses.ts';
import type { SolanaChain } from '../chain/solana/client.ts';
import { closeAccount } from '../chain/solana/instructions.ts';
import { readAccounts, readBlockhash, readEpoch, sendTransaction } from '../chain/solana/reads.ts';
import { readTokenAccount } from '../chain/solana/token-accounts.ts';
import { parseTransaction, resolveInstruction } from '../chain/solana/wire-transaction.ts';
import type { Db } from '../db/pool.ts';
import { type ClosableReceipt, listClosable, markReceiptsClosed } from './receipt-close-store.ts';
import { SigningRefused } from './receipt-policy.ts';
import type { SolanaSigner } from './solana-signer.ts';

type CloseParts = { db: Db; chain: SolanaChain; signer: SolanaSigner };

/** How many receipts were closed, and how many were kept because they hold tokens or belong to another key. */
export type Closing = { closed: number; kept: number };

const BATCH_RECEIPTS = 27;
const POLL_INTERVAL_MS = 1_000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const CLOSE_ACCOUNT = 9;

/**
 * Closes the receipts of this key that are older than `days` days, to reclaim their rent. A receipt is the account that
 * proves that a commit or refund succeeded. `days` must exceed the age of the oldest backup that could be restored.
 * After a restore, the database lacks the payments that were made after the backup, and only their receipts prevent the
 * service from paying again.
 */
export async function closeReceipts(parts: CloseParts, days: number): Promise<Closing> {
  const { db, chain, signer } = parts;
  const totals = { closed: 0, kept: 0 };
  for (let after = FIRST_ID; ; ) {
    const { height } = await readEpoch(chain);
    const key = { chain: chain.name, address: signer.address };
    const batch = await listClosable(db, key, { days, height, after, limit: BATCH_RECEIPTS });
    const last = batch.at(-1);
    if (last === undefined) return totals;
    after = last.id;
    const kept = await closeBatch(parts, batch);
    totals.kept += kept;
    totals.closed += batch.length - kept;
  }
}

/** Signs nothing and needs no private key. */
export async function planClosing(
  { db, chain, address }: Omit<CloseParts, 'signer'> & { address: string },
  days: number,
): Promise<Closing> {
  const totals = { closed: 0, kept: 0 };
  for (let after = FIRST_ID; ; ) {
    const { slot, height } = await readEpoch(chain);
    const choice = { days, height, after, limit: BATCH_RECEIPTS };
    const batch = await listClosable(db, { chain: chain.name, address }, choice);
    const last = batch.at(-1);
    if (last === undefined) return totals;
    after = last.id;
    const { open, kept } = await sortReceipts(chain, address, batch, slot);
    totals.closed += open.length;
    totals.kept += kept.length;
  }
}

/** `open` can be closed, `kept` hold tokens or belong to another key, `gone` no longer exist. */
async function sortReceipts(
  chain: SolanaChain,
  operator: string,
  batch: readonly ClosableReceipt[],
  minSlot: bigint,
) {
  const receipts = batch.map(({ receipt }) => receipt);
  const accounts = await readAccounts(chain, receipts, { commitment: 'finalized', minSlot });
  const tokens = accounts.map(readTokenAccount);
  const open = batch.filter((_, i) => tokens[i]?.owner === operator && tokens[i]?.amount === 0n);
  const kept = batch.filter((each, i) => accounts[i] != null && !open.includes(each));
  const gone = batch.filter((each) => !open.includes(each) && !kept.includes(each));
  return { open, kept, gone };
}

/** Waits until the receipts are gone. Returns how many were kept; see `Closing`. */
async function closeBatch(parts: CloseParts, batch: readonly ClosableReceipt[]): Promise<number> {
  const { db, chain, signer } = parts;
  for (let lastValidHeight: bigint | null = null; ; await sleep(POLL_INTERVAL_MS)) {
    const { slot, height } = await readEpoch(chain);
    const { open, kept, gone } = await sortReceipts(chain, signer.address, batch, slot);
    await markReceiptsClosed(
      db,
      gone.map(({ id }) => id),
    );
    if (open.length === 0) return kept.length;
    if (lastValidHeight === null || height > lastValidHeight)
      lastValidHeight = await sendClose(
        parts,
        open.map(({ receipt }) => receipt),
        height,
      );
  }
}

async function sendClose(
  { chain, signer }: CloseParts,
  receipts: readonly string[],
  height: bigint,
): Promise<bigint> {
  const { hash, lastValidHeight } = await readBlockhash(chain, height);
  const instructions = receipts.map((receipt) => closeAccount(receipt, signer.address));
  const message = encodeMessage({ feePayer: keyOf(signer.address), blockhash: keyOf(hash), instructions });
  const raw = await signer.signTransaction(message, (bytes) =>
    assertCloseAllowed(signer.address, receipts, bytes),
  );
  await sendTransaction(chain, raw);
  return lastValidHeight;
}

export function assertCloseAllowed(operator: string, receipts: readonly string[], message: Uint8Array): void {
  const { keys, signers, instructions } = parseTransaction(encodeTransaction(message, []));
  const isAllowed =
    signers.length === 1 &&
    signers[0] === operator &&
    instructions.length === receipts.length &&
    instructions.every((each, i) => {
      const { program, accounts, data } = resolveInstruction(keys, each);
      const [receipt, destination, owner] = accounts;
      const isClose = program === TOKEN_PROGRAM && data.length === 1 && data[0] === CLOSE_ACCOUNT;
      return isClose && receipt === receipts[i] && destination === operator && owner === operator;
    });
  if (!isAllowed) throw new SigningRefused('the message does more than close receipts');
}
