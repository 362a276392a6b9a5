import { encodeTransaction } from '@causeway/contracts/encodings/solana-message.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  associatedAccount,
  COMPUTE_BUDGET_PROGRAM,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../chain/solana/addresses.ts';
import {
  parseTransaction,
  resolveInstruction,
  type WireInstruction,
} from '../chain/solana/wire-transaction.ts';
import { type ChainPolicy, policyOf, type RolePolicy } from './policy.ts';
import { SigningRefused } from './receipt-policy.ts';
import { feeOf } from './receipt-transaction.ts';
import type { SpendLedger } from './spend-ledger.ts';

const PROGRAMS = new Set([
  ...[ASSOCIATED_TOKEN_PROGRAM, COMPUTE_BUDGET_PROGRAM, MEMO_PROGRAM, SYSTEM_PROGRAM, TOKEN_PROGRAM],
]);
const TRANSFER_CHECKED = 12;
/** Instructions of the token program that move no tokens: they initialise a multisig or an account, or close one. */
const HARMLESS = new Set([2, 9, 18, 19]);

/**
 * Throws `SigningRefused` unless the policy file, which the database cannot change, allows the message: only
 * a listed fund may authorise transfers, and tokens may move only into a listed vault, or from such a vault
 * to the associated token account of a wallet. Throws `Blocked` above a daily limit.
 */
export function assertSolanaPolicy(
  operator: string,
  policy: ChainPolicy,
  ledger: SpendLedger,
  message: Uint8Array,
): void {
  const { keys, instructions } = parseTransaction(encodeTransaction(message, []));
  const all = instructions.map((each) => resolveInstruction(keys, each));
  for (const { program } of all)
    if (!PROGRAMS.has(program)) throw new SigningRefused(`the program ${program} is not used by settlement`);
  const moves = all.filter(({ program, data }) => program === TOKEN_PROGRAM && !HARMLESS.has(data[0] ?? 0));
  const amounts = new Map<string, bigint>();
  for (const move of moves) {
    assertListed(policyOf(policy, roleOf(policy, move)), move, all);
    const mint = move.accounts[1] ?? '';
    amounts.set(mint, (amounts.get(mint) ?? 0n) + move.data.readBigUInt64LE(1));
  }
  const [move] = moves;
  if (move === undefined) return;
  // A key can have only one receipt per participation and direction, so at most one of several attempts
  // succeeds.
  const role = roleOf(policy, move);
  const memo = String(all.find(({ program }) => program === MEMO_PROGRAM)?.data ?? '');
  const spending = { key: `${role} on Solana`, id: `${operator} ${memo}`, fee: readCost(all), amounts };
  ledger.reserve(spending, policyOf(policy, role));
}

/** Tokens that go into a listed account are committed, all others refunded. */
function roleOf(policy: ChainPolicy, { accounts: [, , to = ''] }: WireInstruction): 'commit' | 'refund' {
  return policyOf(policy, 'commit').targets.has(to) ? 'commit' : 'refund';
}

function assertListed({ targets }: RolePolicy, move: WireInstruction, all: WireInstruction[]): void {
  const [from = '', mint = '', to = '', fund = ''] = move.accounts;
  if (move.data[0] !== TRANSFER_CHECKED) throw new SigningRefused('the token program may only transfer');
  if (!targets.has(fund)) throw new SigningRefused(`OPERATOR_POLICY_FILE does not list the fund ${fund}`);
  if (targets.has(to)) return;
  if (!targets.has(from)) throw new SigningRefused(`OPERATOR_POLICY_FILE does not list the vault ${to}`);
  const creates = ({ program, accounts: [, account, wallet = ''] }: WireInstruction) =>
    program === ASSOCIATED_TOKEN_PROGRAM && account === to && associatedAccount(wallet, mint) === to;
  if (!all.some(creates)) throw new SigningRefused(`${to} is not the associated account of a wallet`);
}

/** Returns the fee and the rent that a transaction can cost, in lamports. */
function readCost(all: readonly WireInstruction[]): bigint {
  let [units, price, rent] = [0, 0n, 0n];
  for (const { program, data } of all) {
    if (program === COMPUTE_BUDGET_PROGRAM && data[0] === 2) units = data.readUInt32LE(1);
    if (program === COMPUTE_BUDGET_PROGRAM && data[0] === 3) price = data.readBigUInt64LE(1);
    if (program === SYSTEM_PROGRAM && data[0] === 2) rent += data.readBigUInt64LE(4);
  }
  return feeOf(units, price) + rent;
}
