import { listTokenInstructions, type TokenInstruction } from '../chain/solana/approvals.ts';
import { readTransaction } from '../chain/solana/executed-transaction.ts';
import { readSignatures, type SignatureEntry } from '../chain/solana/reads.ts';
import { MalformedTransaction } from '../chain/solana/wire-transaction.ts';
import { listOwnSignatures } from './receipt-store.ts';
import type { SolanaAccount } from './solana-account.ts';
import { findLastSeen, insertForeign, setLastSeen } from './watch-store.ts';

/** A signer's unchecked transactions, newest first. `isWhole` is true once all of them are listed. */
export type Backlog = { entries: SignatureEntry[]; isWhole: boolean; tries: number };

const PAGE = 1_000;
/** Per call. Anybody can mention a signer in many transactions, so there must be a limit. */
const MAX_READS = 20;
/** The number of failed reads after which a transaction that no node returns is reported as foreign. */
const MAX_TRIES = 10;
/**
 * Transfer (3), burn (8), and their checked forms (12 and 15) take tokens from an account. Maps each to the position
 * of the authority among its accounts.
 */
const AUTHORITY_POSITIONS: Readonly<Record<number, number>> = { 3: 2, 8: 2, 12: 3, 15: 2 };
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/;

export function createBacklog(): Backlog {
  return { entries: [], isWhole: false, tries: 0 };
}

/**
 * Finds finalized transactions in which `signer` moved tokens with a fund as the authority, and records those that this
 * service did not send. Until an operator adopts such a transaction, it blocks the participation that its memo names.
 * Also records transactions that cannot be read or parsed. Each call checks at most `MAX_READS` transactions, oldest
 * first. Returns true once `backlog` is empty.
 *
 * This check can miss transactions. It is only an additional safeguard: the receipts prevent a second payment.
 */
export async function watchSigner(
  account: SolanaAccount,
  signer: string,
  funds: readonly string[],
  backlog: Backlog,
): Promise<boolean> {
  const { db, chain } = account;
  const { entries } = backlog;
  if (!backlog.isWhole) await listMore(account, signer, backlog);
  if (!backlog.isWhole) return false;
  const next = entries.slice(-MAX_READS).toReversed();
  const own = await listOwnSignatures(
    db,
    next.map(({ signature }) => signature),
  );
  for (const entry of next) {
    const use =
      entry.isFailed || own.has(entry.signature) ? 'none' : await judgeUse(account, entry, signer, funds);
    if (use === 'unread' && ++backlog.tries < MAX_TRIES) return false;
    backlog.tries = 0;
    if (use !== 'none') {
      const participationId = use === 'fund' ? (UUID.exec(entry.memo ?? '')?.[0] ?? null) : null;
      await insertForeign(db, chain.name, { ...entry, address: signer, participationId });
    }
    await setLastSeen(db, chain.name, signer, entry.signature);
    entries.pop();
  }
  backlog.isWhole = entries.length > 0;
  return entries.length === 0;
}

/** Adds the next page of unchecked transactions to `backlog`, from newer to older. */
async function listMore({ db, chain }: SolanaAccount, signer: string, backlog: Backlog): Promise<void> {
  const until = await findLastSeen(db, chain.name, signer);
  const before = backlog.entries.at(-1)?.signature ?? null;
  const page = await readSignatures(chain, signer, { before, until, limit: PAGE });
  backlog.entries.push(...page);
  backlog.isWhole = page.length < PAGE;
}

/**
 * `unread`: the node did not return the transaction. `unknown`: it cannot be parsed, so the signer may have used a
 * fund.
 */
async function judgeUse(
  { chain }: SolanaAccount,
  { signature }: SignatureEntry,
  signer: string,
  funds: readonly string[],
): Promise<'fund' | 'none' | 'unread' | 'unknown'> {
  try {
    const transaction = await readTransaction(chain, signature);
    if (transaction === null) return 'unread';
    const instructions = listTokenInstructions(transaction.instructions);
    return instructions.some((each) => usesFund(each, signer, funds)) ? 'fund' : 'none';
  } catch (error) {
    if (error instanceof MalformedTransaction) return 'unknown';
    throw error;
  }
}

/** A fund in another position does not count, because the token program ignores additional accounts. */
function usesFund({ data, accounts }: TokenInstruction, signer: string, funds: readonly string[]): boolean {
  const position = AUTHORITY_POSITIONS[data[0] ?? 0];
  if (position === undefined) return false;
  return funds.includes(accounts[position] ?? '') && accounts.slice(position + 1).includes(signer);
}
