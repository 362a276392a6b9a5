import { createHash } from 'node:crypto';
import { encodeTransaction } from '@causeway/contracts/encodings/solana-message.ts';
import type { ChainPolicy, RolePolicy } from '../../kernel/config/operator-key.ts';
import type { SendingRole } from '../../kernel/config/role.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  associatedAccount,
  COMPUTE_BUDGET_PROGRAM,
  keyOf,
  MEMO_PROGRAM,
  SYSTEM_PROGRAM,
  TOKEN_PROGRAM,
} from '../chain/solana/addresses.ts';
import {
  parseTransaction,
  resolveInstruction,
  type WireInstruction,
} from '../chain/solana/wire-transaction.ts';
import { policyOf } from './policy.ts';
import { MAX_RENT, SigningRefused } from './receipt-policy.ts';
import { feeOf } from './receipt-transaction.ts';
import type { SpendLedger } from './spend-ledger.ts';

const ACCOUNT_RENT = 2_039_280n;

export type SolanaRules = {
  roles: readonly SendingRole[];
  /** The cluster whose policy and limits apply. */
  cluster: string;
  /** If null, every account counts as listed and nothing is limited. */
  policy: ChainPolicy | null;
  ledger: SpendLedger;
};

/**
 * `moves` are the instructions that transfer tokens. `created` maps the accounts that the message allocates for the
 * operator to their seeds.
 */
type Message = {
  operator: string;
  all: WireInstruction[];
  moves: WireInstruction[];
  created: ReadonlyMap<string, string>;
};

/**
 * Throws `SigningRefused` if the message does anything that settlement does not do. Settlement creates funds and
 * receipts, closes receipts, and transfers tokens with a fund as the authority. These rules apply to a transfer:
 * - It must create its own receipt, and must belong to one of the key's roles.
 * - The policy file, which cannot be changed through the database, must list the fund and the vault.
 * - A commit must pay into the vault. A refund must pay from the vault to a wallet's associated token account.
 *
 * Throws `Blocked` if a daily limit would be exceeded.
 */
export function assertSolanaPolicy(
  operator: string,
  { roles, cluster, policy, ledger }: SolanaRules,
  bytes: Uint8Array,
): void {
  const { keys, signers, instructions } = parseTransaction(encodeTransaction(bytes, []));
  if (signers.length !== 1 || signers[0] !== operator)
    throw new SigningRefused('the operator must be the only signer');
  const all = instructions.map((each) => resolveInstruction(keys, each));
  const moves = all.filter(isMove);
  const created = new Map(
    all.filter(isAllocation).map(({ accounts: [account = ''], data }) => [account, seedOf(data)]),
  );
  const message = { operator, all, moves, created };
  for (const each of all) assertUsual(message, each);
  const [move] = moves;
  // A receipt can be created only once, so a second message with the same receipt fails.
  if (moves.length > 0 && (moves.length > 1 || created.size !== 1))
    throw new SigningRefused('each transfer needs its own message that creates exactly one receipt account');
  // A receipt without a transfer would prove a payment that was never made.
  if (move === undefined && [...created.values()].some((seed) => RECEIPT_SEED.test(seed)))
    throw new SigningRefused('a receipt account must not be created without the transfer that it proves');
  const [role = 'commit'] = move === undefined ? roles : [...created.values()].map(roleOf);
  if (!roles.includes(role)) throw new SigningRefused(`it is not the ${role} key on ${cluster}`);
  if (move !== undefined) assertDirection(role, move, all);
  if (policy === null) return;
  if (move !== undefined) assertListed(role, policyOf(policy, role), move);
  const [receipt = createHash('sha256').update(bytes).digest('hex')] = created.keys();
  const amounts = new Map(move === undefined ? [] : [[mintOf(move), move.data.readBigUInt64LE(1)]]);
  const spending = { key: `${role} on ${cluster}`, id: receipt, fee: readCost(all), amounts };
  ledger.reserve(spending, policyOf(policy, role));
}

type Rule = (message: Message, instruction: WireInstruction) => boolean;

const TRANSFER_CHECKED = 12;
const ALLOCATE_WITH_SEED = 9;
const TRANSFER_LAMPORTS = 2;
/** The length of an `AllocateWithSeed` instruction with an empty seed. */
const MIN_ALLOCATION_BYTES = 84;
/** The seed that `receiptSeed` returns: a participation's id, and `c` for a commit or `r` for a refund. */
const RECEIPT_SEED = /^[\w-]{22}\.([cr])$/;

/** The allowed instructions of the system program: creating accounts for the operator and paying their rent. */
const SYSTEM_RULES: Readonly<Record<number, Rule>> = {
  [TRANSFER_LAMPORTS]: ({ created }, { accounts: [, to = ''], data }) =>
    created.has(to) && data.readBigUInt64LE(4) <= MAX_RENT,
  [ALLOCATE_WITH_SEED]: ({ operator }, { accounts: [, base], data }) =>
    base === operator &&
    data.length >= MIN_ALLOCATION_BYTES &&
    data.subarray(-32).equals(keyOf(TOKEN_PROGRAM)) &&
    data.readBigUInt64LE(36) === BigInt(seedOf(data).length),
};

/**
 * Close an account (9), initialize an account (18) or a multisig (19), and transfer, which `assertDirection` and
 * `assertListed` check.
 */
const TOKEN_RULES: Readonly<Record<number, Rule>> = {
  9: ({ operator }, { accounts: [, to] }) => to === operator,
  18: ({ operator, created }, { accounts: [account = ''], data }) =>
    created.has(account) && data.subarray(1).equals(keyOf(operator)),
  19: ({ created }, { accounts: [account = ''] }) => created.has(account),
  [TRANSFER_CHECKED]: () => true,
};

const PROGRAM_RULES: Readonly<Record<string, Rule>> = {
  [COMPUTE_BUDGET_PROGRAM]: () => true,
  [MEMO_PROGRAM]: () => true,
  [SYSTEM_PROGRAM]: (message, each) => SYSTEM_RULES[each.data.readUInt32LE(0)]?.(message, each) === true,
  [TOKEN_PROGRAM]: (message, each) => TOKEN_RULES[each.data[0] ?? -1]?.(message, each) === true,
  [ASSOCIATED_TOKEN_PROGRAM]: ({ moves }, { data, accounts: [, account] }) =>
    data[0] === 1 && moves.some(({ accounts: [, , to] }) => to === account),
};

function assertUsual(message: Message, instruction: WireInstruction): void {
  const { program, data } = instruction;
  const rule = PROGRAM_RULES[program];
  if (rule === undefined) throw new SigningRefused(`settlement does not use the program ${program}`);
  if (!rule(message, instruction))
    throw new SigningRefused(
      `the message uses instruction ${data[0]} of ${program} in a way that settlement does not`,
    );
}

function isMove({ program, data }: WireInstruction): boolean {
  return program === TOKEN_PROGRAM && data[0] === TRANSFER_CHECKED;
}

function isAllocation({ program, data }: WireInstruction): boolean {
  return program === SYSTEM_PROGRAM && data[0] === ALLOCATE_WITH_SEED;
}

function mintOf({ accounts: [, mint = ''] }: WireInstruction): string {
  return mint;
}

/** The base key and the length come before the seed, the account size and the owner after it. */
function seedOf(data: Buffer): string {
  return data.subarray(44, -40).toString('latin1');
}

/** The chain derives the address of the receipt from this seed, so the receipts of the two roles never share one. */
function roleOf(seed: string): SendingRole {
  const [, direction] = RECEIPT_SEED.exec(seed) ?? [];
  if (direction === undefined)
    throw new SigningRefused('the receipt account of a transfer must belong to a participation');
  return direction === 'c' ? 'commit' : 'refund';
}

/**
 * A refund must contain the instruction that creates the wallet's associated token account, because only that names
 * the wallet. A commit must not contain it.
 */
function assertDirection(role: SendingRole, move: WireInstruction, all: WireInstruction[]): void {
  const [, mint = '', to = ''] = move.accounts;
  const creating = all.filter(({ program }) => program === ASSOCIATED_TOKEN_PROGRAM);
  if (role === 'commit' && creating.length > 0)
    throw new SigningRefused('a commit must not create a token account for a wallet');
  const names = ({ accounts: [, account, wallet = ''] }: WireInstruction) =>
    account === to && associatedAccount(wallet, mint) === to;
  if (role === 'refund' && !creating.some(names))
    throw new SigningRefused(`${to} is not the associated account of a wallet`);
}

/** A commit must go from a wallet into a listed vault, a refund out of one. The fund must be listed. */
function assertListed(role: SendingRole, { targets }: RolePolicy, { accounts }: WireInstruction): void {
  const [from = '', , to = '', fund = ''] = accounts;
  if (!targets.has(fund)) throw new SigningRefused(`OPERATOR_POLICY_FILE does not list the fund ${fund}`);
  const vault = role === 'commit' ? to : from;
  if (!targets.has(vault)) throw new SigningRefused(`OPERATOR_POLICY_FILE does not list the vault ${vault}`);
  if (role === 'commit' && targets.has(from))
    throw new SigningRefused(`a commit must not take tokens from the vault ${from}`);
}

function readCost(all: readonly WireInstruction[]): bigint {
  let [units, price, rent] = [0, 0n, 0n];
  for (const { program, data } of all) {
    if (program === COMPUTE_BUDGET_PROGRAM && data[0] === 2) units = data.readUInt32LE(1);
    if (program === COMPUTE_BUDGET_PROGRAM && data[0] === 3) price = data.readBigUInt64LE(1);
    if (program === SYSTEM_PROGRAM && data[0] === TRANSFER_LAMPORTS) rent += data.readBigUInt64LE(4);
    if (program === ASSOCIATED_TOKEN_PROGRAM) rent += ACCOUNT_RENT;
  }
  return feeOf(units, price) + rent;
}
