import { ApiError } from '../../kernel/errors.ts';
import { readTokenApprovals, type TokenApproval } from '../../platform/chain/solana/approvals.ts';
import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import {
  type ExecutedTransaction,
  readTransaction,
} from '../../platform/chain/solana/executed-transaction.ts';
import {
  readAccounts,
  readAccountsAndSlot,
  readChainTime,
  readStatuses,
} from '../../platform/chain/solana/reads.ts';
import { readTokenAccount, type TokenAccount } from '../../platform/chain/solana/token-accounts.ts';
import { MalformedTransaction } from '../../platform/chain/solana/wire-transaction.ts';
import type { ApprovalFault, ApprovalReader, Finding, RequiredApproval } from './approval.ts';
import type { AvailableFunds, RequiredFunds } from './funds.ts';

/**
 * Judges an approval by the instructions that its transaction executed and by the current state of the token account,
 * because the same transaction may also have revoked it. Reads everything at the commitment level `confirmed`.
 */
export function solanaApprovalReader(chain: SolanaChain): ApprovalReader {
  return {
    inspectReceipts: (required) => inspectReceipts(chain, required),
    readFunds: (required, height) => readFunds(chain, required, height),
    listLanded: async (receipts) => {
      const { accounts, slot } = await readAccountsAndSlot(chain, receipts, { commitment: 'confirmed' });
      const landed = new Set(receipts.filter((_, i) => readTokenAccount(accounts[i] ?? null) !== null));
      return { landed, height: slot };
    },
  };
}

/** A finding and the slot of its transaction. The slot is 0 if the transaction is unknown or malformed. */
type Judged = { finding: Finding; slot: bigint };

async function inspectReceipts(
  chain: SolanaChain,
  required: readonly RequiredApproval[],
): Promise<{ findings: Finding[]; height: bigint }> {
  const known = await judgeKnown(
    chain,
    required.filter(({ source }) => source !== null),
  );
  const judged = await Promise.all(
    required.map((approval) => known.get(approval) ?? judgeTransaction(chain, approval)),
  );
  const height = judged.reduce((highest, { slot }) => (slot > highest ? slot : highest), 0n);
  const findings = await judgeSources(chain, required, judged, height);
  return { findings, height };
}

/**
 * Judges approvals that were valid at the last check by the status of their transactions only. The caller reads those
 * without a status or with a failed one in full.
 */
async function judgeKnown(
  chain: SolanaChain,
  required: readonly RequiredApproval[],
): Promise<Map<RequiredApproval, Judged>> {
  const statuses = await readStatuses(
    chain,
    required.map(({ approvalHash }) => approvalHash),
  );
  const judged = new Map<RequiredApproval, Judged>();
  for (const [i, approval] of required.entries()) {
    const status = statuses[i];
    if (status == null || status.isFailed) continue;
    const finding: Finding = status.isConfirmed
      ? { state: 'good', source: approval.source }
      : { state: 'unconfirmed' };
    judged.set(approval, { finding, slot: status.slot });
  }
  return judged;
}

async function judgeTransaction(chain: SolanaChain, required: RequiredApproval): Promise<Judged> {
  const transaction = await readTransaction(chain, required.approvalHash).catch((error: unknown) => {
    if (error instanceof MalformedTransaction) return error;
    throw error;
  });
  if (transaction === null)
    return { finding: { state: 'unmined', chainTime: await readChainTime(chain) }, slot: 0n };
  if (transaction instanceof MalformedTransaction)
    return { finding: { state: 'wrong', reason: 'no_approval', isConfirmed: true }, slot: 0n };
  const found = findApproval(transaction, required);
  const finding: Finding =
    typeof found === 'string'
      ? { state: 'wrong', reason: found, isConfirmed: true }
      : { state: 'good', source: found.source };
  return { finding, slot: transaction.slot };
}

/** Returns the last matching approval, which is the one in force, or the reason; see `ApprovalFault`. */
function findApproval(
  { isFailed, instructions }: ExecutedTransaction,
  { token, user, fund, amount }: RequiredApproval,
): TokenApproval | ApprovalFault {
  if (isFailed) return 'reverted';
  let candidates = readTokenApprovals(instructions);
  if (candidates.length === 0) return 'no_approval';
  const checks = [
    ['token', (approval: TokenApproval) => approval.mint === null || approval.mint === token],
    ['owner', (approval: TokenApproval) => approval.owner === user],
    ['spender', (approval: TokenApproval) => approval.delegate === fund],
    ['amount', (approval: TokenApproval) => approval.amount >= amount],
  ] as const;
  for (const [fault, isRight] of checks) {
    candidates = candidates.filter(isRight);
    if (candidates.length === 0) return fault;
  }
  return candidates.at(-1) ?? 'no_approval';
}

/** Reads the token accounts, because an unchecked `Approve` instruction does not say which token it is for. */
async function judgeSources(
  chain: SolanaChain,
  required: readonly RequiredApproval[],
  judged: readonly Judged[],
  height: bigint,
): Promise<Finding[]> {
  const sourceOf = ({ finding }: Judged) => (finding.state === 'good' ? finding.source : null);
  const isNew = (i: number) => required[i]?.source === null;
  const sources = judged.flatMap((each, i) => (isNew(i) ? (sourceOf(each) ?? []) : []));
  const accounts = await readSources(chain, sources, height);
  return judged.map((each, i): Finding => {
    const source = isNew(i) ? sourceOf(each) : null;
    if (source === null) return each.finding;
    const account = accounts?.[sources.indexOf(source)];
    if (account === undefined) return { state: 'unconfirmed' };
    if (account !== null && account.mint !== required[i]?.token)
      return { state: 'wrong', reason: 'token', isConfirmed: true };
    return each.finding;
  });
}

/** Reads the token accounts at the slot or later. Returns null if no node has reached the slot yet. */
async function readSources(
  chain: SolanaChain,
  sources: readonly string[],
  slot: bigint,
): Promise<(TokenAccount | null)[] | null> {
  if (sources.length === 0) return [];
  try {
    const accounts = await readAccounts(chain, sources, { commitment: 'confirmed', minSlot: slot });
    return accounts.map(readTokenAccount);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'upstream_error') return null;
    throw error;
  }
}

/**
 * Both are 0 if the account is closed, frozen, or not the user's account for this token. The allowance is also 0 if
 * the fund is not the account's delegate.
 */
async function readFunds(
  chain: SolanaChain,
  required: readonly RequiredFunds[],
  height: bigint,
): Promise<(AvailableFunds | null)[]> {
  const accounts = await readSources(
    chain,
    required.map(({ source }) => source ?? ''),
    height,
  );
  if (accounts === null) return required.map(() => null);
  return required.map(({ user, token, fund }, i) => {
    const account = accounts[i] ?? null;
    const isUsable =
      account !== null && account.owner === user && account.mint === token && !account.isFrozen;
    if (!isUsable) return { allowance: 0n, balance: 0n };
    return { allowance: account.delegate === fund ? account.delegatedAmount : 0n, balance: account.amount };
  });
}
