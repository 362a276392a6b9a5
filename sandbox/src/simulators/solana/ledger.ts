import { base58 } from '@scure/base';
import { computeFee } from './fees.ts';
import { isSameKey } from './programs.ts';
import {
  findLockProblem,
  type LoadedKeys,
  recentHashes,
  resolveLookups,
  usesLookups,
} from './resolve-keys.ts';
import { type AccountState, type Execution, type Simulation, type Svm, toHex } from './svm.ts';
import { KEPT_SLOTS, type Timeline } from './timeline.ts';
import { readMint, readTokenAccount, type TokenAccount, toUiAmount } from './token-account.ts';
import type { TransactionError } from './transaction-error.ts';
import type { WireTransaction } from './wire-transaction.ts';

type TokenBalance = { accountIndex: number; mint: string; owner: string; programId: string } & {
  uiTokenAmount: ReturnType<typeof toUiAmount>;
};

/** A transaction in a block. Its execution may have failed. */
export type Landed = Execution & {
  signature: string;
  slot: number;
  /** The block's time in seconds. */
  time: number;
  transaction: WireTransaction;
  /** The static keys, followed by the writable and then the read-only keys from lookup tables. */
  keys: Uint8Array[];
  loaded: LoadedKeys;
  fee: bigint;
  preBalances: bigint[];
  postBalances: bigint[];
  preTokenBalances: TokenBalance[];
  postTokenBalances: TokenBalance[];
};

export type OwnedTokenAccount = { key: Uint8Array; state: AccountState; token: TokenAccount };

/**
 * The blocks and accounts of the current branch. Also keeps the previous versions of accounts that recent blocks have
 * changed.
 */
export type Ledger = {
  account(key: Uint8Array, slot: number): AccountState | null;
  /** Executes a transaction in a slot. Returns an error if the transaction cannot be included in a block. */
  execute(transaction: WireTransaction, slot: number, time: number): Landed | TransactionError;
  /** Runs a transaction on the accounts as of `slot` without changing them. */
  simulate(
    transaction: WireTransaction,
    slot: number,
    options: { verifySignatures: boolean; checkBlockhash: boolean },
  ): Simulation;
  find(signature: string): Landed | undefined;
  /** The transactions that use an address, oldest first. */
  involving(address: string): readonly Landed[];
  /** Undoes all blocks from slot `from` on. Returns their transactions, oldest first. */
  undo(from: number): Landed[];
  /** Drops the account versions and message hashes that no node still needs when the chain is at slot `head`. */
  prune(head: number): void;
  tokenAccounts(owner: Uint8Array, slot: number): OwnedTokenAccount[];
  /** Adds an account that exists from the first slot on. */
  addGenesis(key: Uint8Array, state: AccountState): void;
  /** The transactions after a slot, newest first. */
  since(slot: number): Landed[];
  count(): number;
};

export function createLedger(svm: Svm, timeline: Timeline): Ledger {
  /** For each slot, the previous version of every account that the slot's block changed. */
  const replaced = new Map<number, Map<string, AccountState | null>>();
  const landed: Landed[] = [];
  const bySignature = new Map<string, Landed>();
  const byMessage = new Map<string, number>();
  const byAddress = new Map<string, Landed[]>();
  let latestTime = 0;
  /** For each owner, the token accounts that belong or used to belong to it. */
  const tokenAccounts = new Map<string, Set<string>>();

  /**
   * If a block after `slot` has changed the account, returns the account as it was at the end of `slot`. Otherwise
   * returns undefined.
   */
  function replacedAfter(key: Uint8Array, slot: number): AccountState | null | undefined {
    const id = toHex(key);
    for (const [at, versions] of replaced) {
      const version = at > slot ? versions.get(id) : undefined;
      if (version !== undefined) return version;
    }
    return undefined;
  }

  function account(key: Uint8Array, slot: number): AccountState | null {
    const version = replacedAfter(key, slot);
    return version === undefined ? svm.account(key) : version;
  }

  function indexTokenAccount(key: Uint8Array, state: AccountState | null): void {
    const token = readTokenAccount(state);
    if (!token) return;
    const owner = toHex(token.owner);
    const owned = tokenAccounts.get(owner);
    if (owned) owned.add(toHex(key));
    else tokenAccounts.set(owner, new Set([toHex(key)]));
  }

  function findProblem(transaction: WireTransaction, slot: number): TransactionError | undefined {
    if (timeline.findBlockhash(transaction.blockhash, slot) === undefined) return 'BlockhashNotFound';
    if ((byMessage.get(transaction.messageHash) ?? Number.POSITIVE_INFINITY) <= slot)
      return 'AlreadyProcessed';
    return undefined;
  }

  function tokenBalances(keys: Uint8Array[], accounts: (AccountState | null)[]): TokenBalance[] {
    return accounts.flatMap((state, accountIndex) => {
      const token = readTokenAccount(state);
      const mint = token && readMint(svm.account(token.mint));
      if (!state || !token || !mint || !keys[accountIndex]) return [];
      return {
        accountIndex,
        mint: base58.encode(token.mint),
        owner: base58.encode(token.owner),
        programId: base58.encode(state.owner),
        uiTokenAmount: toUiAmount(token.amount, mint.decimals),
      };
    });
  }

  function record(entry: Landed): void {
    landed.push(entry);
    bySignature.set(entry.signature, entry);
    byMessage.set(entry.transaction.messageHash, entry.slot);
    for (const key of new Set(entry.keys.map((key) => base58.encode(key)))) {
      const entries = byAddress.get(key);
      if (entries) entries.push(entry);
      else byAddress.set(key, [entry]);
    }
  }

  /** Sets the sysvars that the transaction may read. */
  function prepare(transaction: WireTransaction, slot: number): void {
    svm.setTime(slot, latestTime);
    if (usesLookups(transaction)) svm.setSlotHashes(recentHashes(timeline, slot));
  }

  function execute(transaction: WireTransaction, slot: number, time: number): Landed | TransactionError {
    const loaded = resolveLookups(svm, transaction);
    if (!('keys' in loaded)) return loaded.problem;
    const problem = findProblem(transaction, slot) ?? findLockProblem(loaded.keys);
    if (problem !== undefined) return problem;
    const { keys } = loaded;
    const programs = new Set(transaction.instructions.map(({ program }) => program));
    const read = () => keys.map((key, index) => (programs.has(index) ? null : svm.account(key)));
    const balances = (accounts: (AccountState | null)[]) =>
      accounts.map((state, index) => state?.lamports ?? (keys[index] ? svm.balance(keys[index]) : 0n));
    latestTime = time;
    prepare(transaction, slot);
    const before = read();
    const preBalances = balances(before);
    const execution = svm.execute(transaction.raw);
    const after = read();
    // A transaction that could not even pay its fee is not included in any block.
    if (execution.err !== null && svm.balance(keys[0] as Uint8Array) === preBalances[0]) return execution.err;

    const versions = replaced.get(slot) ?? new Map<string, AccountState | null>();
    replaced.set(slot, versions);
    keys.forEach((key, index) => {
      if (programs.has(index) || !loaded.isWritable(index)) return;
      const id = toHex(key);
      if (!versions.has(id)) versions.set(id, before[index] ?? null);
      indexTokenAccount(key, after[index] ?? null);
    });
    const entry: Landed = {
      ...execution,
      signature: base58.encode(transaction.signatures[0] as Buffer),
      slot,
      time,
      transaction,
      keys,
      loaded: loaded.loaded,
      fee: computeFee(transaction),
      preBalances,
      postBalances: balances(after),
      preTokenBalances: tokenBalances(keys, before),
      postTokenBalances: tokenBalances(keys, after),
    };
    record(entry);
    return entry;
  }

  /**
   * Runs `work` on the accounts of `keys` as they were at the end of `slot`, and then restores the current accounts.
   */
  function atSlot<T>(keys: Uint8Array[], slot: number, work: () => T): T {
    const changed = keys.flatMap((key) => {
      const then = replacedAfter(key, slot);
      return then === undefined ? [] : { key, then, now: svm.account(key) };
    });
    try {
      for (const { key, then } of changed) svm.setAccount(key, then);
      return work();
    } finally {
      for (const { key, now } of changed) svm.setAccount(key, now);
    }
  }

  return {
    account,
    execute,
    simulate: (transaction, slot, { verifySignatures, checkBlockhash }) => {
      const loaded = resolveLookups(svm, transaction);
      const failed = (err: TransactionError): Simulation => ({
        err,
        logs: [],
        units: 0,
        inner: [],
        returnData: null,
        accounts: new Map(),
      });
      if (!('keys' in loaded)) return failed(loaded.problem);
      const problem =
        (checkBlockhash ? findProblem(transaction, slot) : undefined) ?? findLockProblem(loaded.keys);
      if (problem !== undefined) return failed(problem);
      prepare(transaction, slot);
      return atSlot(loaded.keys, slot, () => svm.simulate(transaction.raw, { verifySignatures }));
    },
    find: (signature) => bySignature.get(signature),
    involving: (address) => byAddress.get(address) ?? [],
    undo: (from) => {
      for (const slot of [...replaced.keys()].filter((slot) => slot >= from).reverse()) {
        for (const [id, version] of replaced.get(slot) ?? []) svm.setAccount(Buffer.from(id, 'hex'), version);
        replaced.delete(slot);
      }
      const index = landed.findIndex(({ slot }) => slot >= from);
      const undone = index === -1 ? [] : landed.splice(index);
      for (const { signature, transaction, keys } of undone) {
        bySignature.delete(signature);
        byMessage.delete(transaction.messageHash);
        for (const key of keys.map((key) => base58.encode(key)))
          byAddress.set(key, byAddress.get(key)?.filter(({ slot }) => slot < from) ?? []);
      }
      return undone;
    },
    prune: (head) => {
      for (const slot of replaced.keys()) {
        if (slot >= head - KEPT_SLOTS) break;
        replaced.delete(slot);
      }
      for (const [hash, slot] of byMessage) {
        if (slot >= head - KEPT_SLOTS) break;
        byMessage.delete(hash);
      }
    },
    tokenAccounts: (owner, slot) =>
      [...(tokenAccounts.get(toHex(owner)) ?? [])].flatMap((id) => {
        const key = Buffer.from(id, 'hex');
        const state = account(key, slot);
        const token = readTokenAccount(state);
        return state && token && isSameKey(token.owner, owner) ? { key, state, token } : [];
      }),
    addGenesis: (key, state) => {
      svm.setAccount(key, state);
      indexTokenAccount(key, state);
    },
    since: (slot) => {
      const first = landed.findLastIndex((entry) => entry.slot <= slot) + 1;
      return landed.slice(first).reverse();
    },
    count: () => landed.length,
  };
}
