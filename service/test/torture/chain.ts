import type { Fault } from '@causeway/sandbox/simulators/fault.ts';
import type { Context } from '../../src/context.ts';
import type { Offer } from '../../src/offers/catalogue.ts';
import type { OfferFile } from '../../src/offers/file-schema.ts';
import type { RandomChoices } from './random-choices.ts';

/** A wallet with money that approves the fund of the sale. */
export type InvestorWallet = {
  address: string;
  /** Sends an approval and returns its hash. 0 revokes. */
  approve(amount: bigint): Promise<string>;
};

/** A participation as the checks of the books need it. */
export type Row = {
  id: string;
  status: string;
  reason: string | null;
  amount: string;
  wallet_address: string;
  last_event: string;
};

/**
 * The operations that the torture test needs from a chain. Investors, kills and the checks of statuses are the same on
 * every chain.
 */
export type TortureChain = {
  name: string;
  /** The flags that, together with the seed, repeat the run. */
  flags: string;
  /** The settings of the service: the nodes and the operator's key. */
  variables: Record<string, string>;
  offerFile: OfferFile;
  /** Two nodes of different providers. Each can fail alone. */
  rpcs: readonly { fault: Fault }[];
  createWallet(index: number): Promise<InvestorWallet>;
  /** Disturbs the chain at random. Returns what it did. Passes disturbances that end after a while to `later`. */
  disturb(random: RandomChoices, later: (work: Promise<void>) => void): Promise<string[]>;
  /** Loses the latest transactions from the database, while no node of the service runs. Returns false if it lost none. */
  forgetTransactions(ctx: Context): Promise<boolean>;
  /** Does what operators and wallets do in the meantime, such as sending approvals again. */
  attend(ctx: Context): Promise<void>;
  /** Ends all disturbances and lets the chain advance. */
  calm(): Promise<void>;
  /** Counts settled transactions that a reorganisation undid and the service has not noticed. */
  countUndone(ctx: Context): Promise<number>;
  /** Returns how the books of the chain and the database differ. */
  checkBooks(
    sale: { ctx: Context; offer: Offer },
    rows: readonly Row[],
    wallets: readonly string[],
  ): Promise<string[]>;
  close(): Promise<void>;
};

export const COMMITTED_STATUSES = new Set(['completed', 'remitted', 'remit_failed']);

export const sumAmounts = (rows: readonly Row[]) =>
  rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
