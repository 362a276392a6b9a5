/** A signed version of a transaction. This version can land until the block height exceeds `lastValidHeight`. */
export type ReceiptAttempt = {
  /** In base58. */
  signature: string;
  raw: Buffer;
  lastValidHeight: bigint;
  /** The price in millionths of a lamport per compute unit. */
  price: bigint;
  /** Seconds since the attempt was signed. */
  age: number;
  /** Seconds since a node accepted the attempt; null if no node has accepted it. */
  sentAge: number | null;
};

/** An operator transaction on Solana. It has succeeded if and only if its receipt account exists. */
export type ReceiptTransaction = {
  id: string;
  kind: 'commit' | 'remit';
  receipt: string;
  units: number;
  /** Oldest first. */
  attempts: ReceiptAttempt[];
};

export type NewAttempt = Pick<ReceiptAttempt, 'signature' | 'raw' | 'lastValidHeight' | 'price'> & {
  /** The maximum cost in lamports. */
  fee: bigint;
};

/** The base fee per signature, in lamports. */
const SIGNATURE_FEE = 5_000n;

/** Returns the fee of a transaction with one signature, in lamports. */
export function feeOf(units: number, price: bigint): bigint {
  return SIGNATURE_FEE + (BigInt(units) * price + 999_999n) / 1_000_000n;
}
