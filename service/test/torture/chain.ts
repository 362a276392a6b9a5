import type { Fault } from '@causeway/sandbox/simulators/fault.ts';
import type { OfferFile } from '../../src/domain/offer-files/file-schema.ts';
import type { ChainReport } from '../../src/domain/settlement/reconcile-report.ts';
import type { Context } from '../../src/platform/context/context.ts';
import type { Offer } from '../../src/platform/context/ports.ts';
import type { Db } from '../../src/platform/db/pool.ts';
import type { RandomChoices } from './random-choices.ts';

/** A funded wallet that can approve the sale's fund. */
export type InvestorWallet = {
  address: string;
  /** Sends an approval and returns its hash. An amount of 0 revokes the approval. */
  approve(amount: bigint): Promise<string>;
};

/** The columns of a participation that the final checks need. */
export type Row = {
  id: string;
  status: string;
  reason: string | null;
  amount: string;
  wallet_address: string;
  last_event: string;
};

/**
 * The operations that the torture test needs from a chain. Everything else, such as investors, kills and status checks,
 * is the same on every chain.
 */
export type TortureChain = {
  name: string;
  /** The command-line flags that, together with the seed, reproduce the run. */
  flags: string;
  /** The chain-specific settings of the service: the RPC nodes and the operator's key. */
  variables: Record<string, string>;
  offerFile: OfferFile;
  /** Two RPC nodes from different providers, which can fail independently. */
  rpcs: readonly { fault: Fault }[];
  createWallet(index: number): Promise<InvestorWallet>;
  /**
   * Disturbs the chain at random and returns a description of the disturbance. If the disturbance outlasts the call,
   * passes `later` a promise that resolves when the disturbance ends.
   */
  disturb(random: RandomChoices, later: (work: Promise<void>) => void): Promise<string[]>;
  /** Makes the next transactions wait in the mempool, on chains that have one. */
  holdTransactions?(ctx: Context): Promise<void>;
  /**
   * Removes the latest transactions from the database while no service node is running. Returns false if it removed
   * none.
   */
  forgetTransactions(ctx: Context): Promise<boolean>;
  /** Does what operators and wallets would do during the run, such as sending approvals again. */
  attend(ctx: Context): Promise<void>;
  /** Ends all disturbances and lets the chain advance. */
  calm(): Promise<void>;
  /** Counts settled transactions that a reorganization undid without the service noticing. */
  countUndone(ctx: Context): Promise<number>;
  /** Returns the differences between the chain and the database. */
  checkBooks(
    sale: { ctx: Context; offer: Offer },
    rows: readonly Row[],
    wallets: readonly string[],
  ): Promise<string[]>;
  /** Builds the report of `causeway operator reconcile --report`. */
  report(ctx: Context, db: Db): Promise<ChainReport>;
  close(): Promise<void>;
};

export const COMMITTED_STATUSES = new Set(['completed', 'remitted', 'remit_failed']);

export const sumAmounts = (rows: readonly Row[]) =>
  rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
