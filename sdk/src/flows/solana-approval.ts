import { decodeBase58, encodeBase58 } from '../base58.ts';
import type { SolanaChain } from '../chains.ts';
import { notify } from '../notify.ts';
import { abortable, sleep } from '../sleep.ts';
import { balanceTooLow } from './approval.ts';
import { FlowFailure } from './flow.ts';
import { notFound, notInTime } from './receipt.ts';
import { clarifyFailure, type WalletSession } from './session.ts';
import {
  callSolana,
  listTokenAccounts,
  readBlockhash,
  readMintDecimals,
  type SolanaTokenAccount,
  TOKEN_PROGRAM,
} from './solana-node.ts';
import { mismatch } from './token-checks.ts';
import type { SolanaWallet } from './wallet.ts';

/** The approval that a sale needs: `fund` may take `amount` of the mint from the wallet. */
export type SolanaAllowance = { mint: string; fund: string; amount: bigint; decimals: number };

export type SolanaSession = WalletSession & { wallet: SolanaWallet; chain: SolanaChain };

const APPROVE_CHECKED = 13;
const SIGNATURE_BYTES = 64;
const FEE_LAMPORTS = 5_000;
/**
 * The lifetime of a blockhash, in blocks. Wallets may replace the blockhash when they sign, so a transaction may stay
 * valid for up to this many blocks longer than planned.
 */
const BLOCKHASH_LIFE_BLOCKS = 150;

/**
 * Throws `token_mismatch` unless the mint has the decimals that the offer states. With different decimals, the user
 * would see one amount and sign another.
 */
export async function assertMint(session: SolanaSession, { mint, decimals }: SolanaAllowance): Promise<void> {
  const actual = await readMintDecimals(session, mint);
  if (actual !== decimals) throw mismatch(mint, { decimals, actual });
}

/**
 * Returns the wallet's token account with the highest balance, ignoring frozen accounts. Throws `insufficient_balance`
 * if the balance does not cover the amount, or if the wallet cannot pay the transaction fee.
 */
export async function findPayingAccount(
  session: SolanaSession,
  { mint, amount }: SolanaAllowance,
): Promise<SolanaTokenAccount> {
  const accounts = await listTokenAccounts(session, session.address, mint);
  const usable = accounts.filter(({ isFrozen }) => !isFrozen).sort((a, b) => (a.amount < b.amount ? 1 : -1));
  const [richest] = usable;
  if (richest === undefined || richest.amount < amount)
    throw balanceTooLow(session.address, mint, amount, richest?.amount ?? 0n);
  const params = [session.address, { commitment: 'confirmed' }];
  const { value: lamports } = (await callSolana(session, 'getBalance', params)) as { value: number };
  if (lamports < FEE_LAMPORTS)
    throw new FlowFailure('insufficient_balance', 'The wallet has no SOL for the network fee.', {
      details: { required: String(FEE_LAMPORTS), balance: String(lamports), owner: session.address },
    });
  return richest;
}

/**
 * Asks the wallet to let the fund take exactly `wanted.amount`. Returns the signature and the last block height at
 * which the transaction can land.
 */
export async function sendSolanaApproval(
  session: SolanaSession,
  source: SolanaTokenAccount,
  wanted: SolanaAllowance,
): Promise<{ hash: string; lastValidBlockHeight: number }> {
  const { blockhash, lastValidBlockHeight } = await readBlockhash(session);
  const unsigned = Uint8Array.of(
    1,
    ...new Uint8Array(SIGNATURE_BYTES),
    ...encodeApproval(session.address, source.address, wanted, blockhash),
  );
  return { hash: encodeBase58(await signAndSend(session, unsigned)), lastValidBlockHeight };
}

/**
 * Encodes the message of an `ApproveChecked` transaction. Its layout is always the same, so no general encoder is
 * needed.
 */
function encodeApproval(
  owner: string,
  source: string,
  { mint, fund, amount, decimals }: SolanaAllowance,
  blockhash: Uint8Array,
): Uint8Array {
  const keys = [owner, source, mint, fund, TOKEN_PROGRAM].map(decodeBase58);
  const units = new DataView(new ArrayBuffer(8));
  units.setBigUint64(0, amount, true);
  return Uint8Array.of(
    // The header (one signature, no read-only signer, three read-only accounts), then the number of accounts.
    ...[1, 0, 3, keys.length],
    ...keys.flatMap((key) => [...key]),
    ...blockhash,
    // One instruction: program index 4; four accounts (source, mint, delegate, owner); ten bytes of data.
    ...[1, 4, 4, 1, 2, 3, 0, 10],
    ...[APPROVE_CHECKED, ...new Uint8Array(units.buffer), decimals],
  );
}

async function signAndSend(session: SolanaSession, transaction: Uint8Array): Promise<Uint8Array> {
  const { wallet, chain, signal, onSend } = session;
  if (wallet.signAndSendTransaction !== undefined) {
    const answer = wallet.signAndSendTransaction(transaction, chain);
    // If the owner approves after the flow was aborted, the transaction is still reported.
    answer
      .then((late) => signal?.aborted && session.reportTransaction(encodeBase58(late)))
      .catch(() => undefined);
    notify(onSend, answer);
    return clarifyFailure(signal, abortable(signal, answer));
  }
  if (wallet.signTransaction === undefined)
    throw new FlowFailure('wallet_error', 'This wallet cannot sign transactions. Use another one.');
  const signed = await abortable(signal, wallet.signTransaction(transaction, chain));
  const encoded = btoa(String.fromCharCode(...signed));
  await callSolana(session, 'sendTransaction', [
    encoded,
    { encoding: 'base64', preflightCommitment: 'confirmed' },
  ]).catch((error: unknown) => {
    // Throws only if the transaction was certainly not sent. It may have been sent if no response arrived, the flow was
    // aborted, a node already has it, or another node failed before this one refused. In these cases, the flow looks
    // for the transaction on the chain.
    const isRefused =
      error instanceof FlowFailure && error.info.cause === undefined && !/already/.test(error.message);
    if (isRefused) throw error;
  });
  return signed.slice(1, 1 + SIGNATURE_BYTES);
}

/** Waits until the approval is confirmed. Throws if it failed or can no longer land. */
export async function waitForSolanaApproval(
  session: SolanaSession,
  hash: string,
  lastValidBlockHeight: number | undefined,
): Promise<void> {
  const startedAt = Date.now();
  let deadline = lastValidBlockHeight;
  for (;;) {
    const params = [[hash], { searchTransactionHistory: true }];
    const { value } = (await callSolana(session, 'getSignatureStatuses', params)) as {
      value: ({ err: unknown; confirmationStatus: string } | null)[];
    };
    const [status] = value;
    if (status && status.err !== null)
      throw new FlowFailure('transaction_reverted', 'The approval failed on chain.', {
        transactionHash: hash,
        details: { reason: JSON.stringify(status.err) },
      });
    if (status && status.confirmationStatus !== 'processed') return;
    const height = Number(await callSolana(session, 'getBlockHeight', [{ commitment: 'finalized' }]));
    deadline ??= height + BLOCKHASH_LIFE_BLOCKS;
    if (!status && height > deadline + BLOCKHASH_LIFE_BLOCKS) throw notFound(hash);
    if (Date.now() - startedAt >= session.confirmationTimeoutMs) throw notInTime(hash);
    await sleep(session.pollIntervalMs, session.signal);
  }
}

/**
 * Throws `approval_failed` unless the account lets the fund take the amount. Owners can change an approval in their
 * wallets before they sign it.
 */
export async function assertSolanaApproved(
  session: SolanaSession,
  source: SolanaTokenAccount,
  { mint, fund, amount }: SolanaAllowance,
  hash: string,
): Promise<void> {
  const accounts = await listTokenAccounts(session, session.address, mint);
  const account = accounts.find(({ address }) => address === source.address);
  const approved = account?.delegate === fund ? account.delegatedAmount : 0n;
  if (approved >= amount) return;
  throw new FlowFailure('approval_failed', 'The wallet approved less than the amount.', {
    transactionHash: hash,
    details: { required: String(amount), allowance: String(approved), spender: fund, token: mint },
  });
}
