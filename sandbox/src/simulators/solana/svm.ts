import {
  Account,
  Clock,
  FailedTransactionMetadata,
  type InnerInstruction,
  LiteSvm,
  type TransactionMetadata,
} from 'litesvm/dist/internal.js';
import { type TransactionError, toTransactionError } from './transaction-error.ts';

/** An account's content. An account without lamports does not exist. */
export type AccountState = {
  lamports: bigint;
  owner: Uint8Array;
  data: Uint8Array;
  executable: boolean;
  rentEpoch: bigint;
};

export type InnerCall = { program: number; accounts: number[]; data: Uint8Array; stackHeight: number };

export type Execution = {
  err: TransactionError | null;
  logs: string[];
  units: number;
  /** `inner[i]` contains the inner instructions of instruction `i`. */
  inner: InnerCall[][];
  returnData: { program: Uint8Array; data: Uint8Array } | null;
};

/** The Solana virtual machine and its accounts, without blocks, history or blockhash checks. */
export type Svm = {
  account(key: Uint8Array): AccountState | null;
  balance(key: Uint8Array): bigint;
  setAccount(key: Uint8Array, account: AccountState | null): void;
  setTime(slot: number, seconds: number): void;
  setSlotHashes(hashes: { slot: bigint; hash: string }[]): void;
  rentExemption(bytes: number): bigint;
  /**
   * Executes a transaction. The caller must parse the bytes first: LiteSVM aborts the process if it cannot deserialize
   * them.
   */
  execute(raw: Uint8Array): Execution;
  simulate(raw: Uint8Array, options: { verifySignatures: boolean }): Simulation;
};

export type Simulation = Execution & { accounts: Map<string, AccountState> };

export const SLOTS_PER_EPOCH = 432_000;
const RENT_EXEMPT_EPOCH = 2n ** 64n - 1n;
const NO_ACCOUNT = new Account(0n, new Uint8Array(), new Uint8Array(32), false, 0n);

export function createSvm(): Svm {
  const svm = new LiteSvm();
  svm.setBlockhashCheck(false);
  svm.setTransactionHistory(0n);
  return {
    account: (key) => toState(svm.getAccount(key)),
    balance: (key) => svm.getBalance(key) ?? 0n,
    setAccount: (key, account) => svm.setAccount(key, account ? fromState(account) : NO_ACCOUNT),
    setTime: (slot, seconds) => {
      const epoch = BigInt(Math.floor(slot / SLOTS_PER_EPOCH));
      svm.setClock(new Clock(BigInt(slot), 0n, epoch, epoch + 1n, BigInt(seconds)));
    },
    setSlotHashes: (hashes) => svm.setSlotHashes(hashes),
    rentExemption: (bytes) => svm.minimumBalanceForRentExemption(BigInt(bytes)),
    execute: (raw) => toExecution(svm.sendVersionedTransaction(raw)),
    simulate: (raw, { verifySignatures }) => {
      svm.setSigverify(verifySignatures);
      try {
        const result = svm.simulateVersionedTransaction(raw);
        if (result instanceof FailedTransactionMetadata)
          return { ...toExecution(result), accounts: new Map() };
        const accounts = result
          .postAccounts()
          .map((post) => [toHex(post.address), toState(post.account())] as const)
          .filter((entry): entry is [string, AccountState] => entry[1] !== null);
        return { ...toExecution(result.meta()), accounts: new Map(accounts) };
      } finally {
        svm.setSigverify(true);
      }
    },
  };
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

function toState(account: Account | null): AccountState | null {
  if (account === null || account.lamports() === 0n) return null;
  return {
    lamports: account.lamports(),
    owner: account.owner(),
    data: account.data(),
    executable: account.executable(),
    // Every account here is rent-exempt, but LiteSVM would report rent epoch 0 for new accounts.
    rentEpoch: RENT_EXEMPT_EPOCH,
  };
}

function fromState({ lamports, data, owner, executable, rentEpoch }: AccountState): Account {
  return new Account(lamports, data, owner, executable, rentEpoch);
}

function toExecution(result: TransactionMetadata | FailedTransactionMetadata): Execution {
  const isFailed = result instanceof FailedTransactionMetadata;
  const meta = isFailed ? result.meta() : result;
  const returned = meta.returnData();
  return {
    err: isFailed ? toTransactionError(result) : null,
    logs: meta.logs(),
    units: Number(meta.computeUnitsConsumed()),
    inner: meta.innerInstructions().map((calls) => calls.map(toInnerCall)),
    returnData:
      returned.data().length === 0 ? null : { program: returned.programId(), data: returned.data() },
  };
}

function toInnerCall(call: InnerInstruction): InnerCall {
  const instruction = call.instruction();
  return {
    program: instruction.programIdIndex(),
    accounts: [...instruction.accounts()],
    data: instruction.data(),
    stackHeight: call.stackHeight(),
  };
}
