import { encodeTransaction } from '@causeway/contracts/encodings/solana-message.ts';
import { base58 } from '@scure/base';
import { newId } from '../../kernel/ids.ts';
import { receiptAddress } from '../chain/solana/addresses.ts';
import {
  readBalance,
  readBlockhash,
  readEpoch,
  readPrices,
  readRent,
  simulateTransaction,
} from '../chain/solana/reads.ts';
import { TOKEN_ACCOUNT_BYTES } from '../chain/solana/token-accounts.ts';
import type { Db } from '../db/pool.ts';
import { Blocked } from './blocked.ts';
import { type Lease, withLease } from './lease.ts';
import { broadcastReceipt } from './receipt-follow.ts';
import { buildReceiptMessage, type ReceiptFees, type ReceiptPlan } from './receipt-message.ts';
import { assertReceiptAllowed } from './receipt-policy.ts';
import { insertReceiptAttempt, openReceiptTransaction } from './receipt-store.ts';
import { feeOf, type NewAttempt, type ReceiptTransaction } from './receipt-transaction.ts';
import type { SolanaAccount } from './solana-account.ts';
import type { SolanaSigner } from './solana-signer.ts';

/** More than any settlement uses, so that a simulation never runs out of units. */
const SIMULATED_UNITS = 200_000;
const UNITS_MARGIN = 1.2;
const PRICE_PERCENTILE = 0.75;
/** Each further attempt raises a price of 0 to `MIN_RAISED_PRICE`, and multiplies any other price by `PRICE_FACTOR`. */
const MIN_RAISED_PRICE = 1_000n;
const PRICE_FACTOR = 2n;

export class SimulationFailed extends Error {
  readonly error: unknown;
  constructor(error: unknown) {
    super(`the transaction would fail: ${JSON.stringify(error)}`);
    this.name = 'SimulationFailed';
    this.error = error;
  }
}

export type ReceiptOrder = { plan: ReceiptPlan; vault: string };

/**
 * Simulates and signs the settlement, stores it in the same database transaction as the changes that `apply` makes, and
 * then sends it. If the process crashes before the database commit, nothing was stored or sent. If it crashes later,
 * the node that holds the lease sends the stored bytes (`followReceipts`). Returns false if the receipt already has an
 * open or landed transaction. Throws `SimulationFailed` if the simulation fails.
 */
export async function sendReceipt(
  account: SolanaAccount,
  lease: Lease,
  order: ReceiptOrder,
  apply: (tx: Db, transactionId: string) => Promise<void>,
): Promise<boolean> {
  const { db, clock, random } = account;
  const signer = signerOf(account);
  const { plan } = order;
  const [rent, price, { height }] = await readTerms(account, order);
  const units = await estimateUnits(account, plan, { rent, price, units: SIMULATED_UNITS }, height);
  const attempt = await signAttempt(account, order, { rent, price, units }, height);
  const receipt = receiptAddress(signer.address, plan.participationId, plan.kind);
  const transaction = { id: newId(clock, random), kind: plan.kind, receipt, units, fund: plan.fund };
  const isOpened = await withLease(db, lease, async (tx) => {
    const id = await openReceiptTransaction(tx, lease, transaction, attempt);
    if (id !== null) await apply(tx, id);
    return id !== null;
  });
  if (isOpened) await broadcastReceipt(account, attempt);
  return isOpened;
}

/** Signs again with a fresh blockhash and a higher price, up to the cap. Stores and sends it if `mayStore` returns true. */
export async function renewReceipt(
  account: SolanaAccount,
  lease: Lease,
  transaction: ReceiptTransaction,
  order: ReceiptOrder,
  mayStore: (tx: Db) => Promise<boolean>,
): Promise<void> {
  const last = transaction.attempts.at(-1)?.price ?? 0n;
  const [rent, market, { height }] = await readTerms(account, order);
  const raised = last === 0n ? MIN_RAISED_PRICE : last * PRICE_FACTOR;
  const wanted = raised > market ? raised : market;
  const price = wanted > account.maxPrice ? account.maxPrice : wanted;
  const attempt = await signAttempt(account, order, { rent, price, units: transaction.units }, height);
  const isStored = await withLease(account.db, lease, async (tx) => {
    if (!(await mayStore(tx))) return false;
    await insertReceiptAttempt(tx, transaction.id, attempt);
    return true;
  });
  if (isStored) await broadcastReceipt(account, attempt);
}

/** The simulated transaction is unsigned, because nodes must not receive signed bytes that are not stored. */
async function estimateUnits(
  account: SolanaAccount,
  plan: ReceiptPlan,
  fees: ReceiptFees,
  height: bigint,
): Promise<number> {
  const { hash } = await readBlockhash(account.chain, height);
  const message = buildReceiptMessage(account.key.address, plan, fees, hash);
  const { error, units } = await simulateTransaction(
    account.chain,
    encodeTransaction(message, [new Uint8Array(64)]),
  );
  if (error !== null) throw new SimulationFailed(error);
  return Math.ceil(units * UNITS_MARGIN);
}

async function signAttempt(
  account: SolanaAccount,
  order: ReceiptOrder,
  fees: ReceiptFees,
  height: bigint,
): Promise<NewAttempt> {
  const signer = signerOf(account);
  const { hash, lastValidHeight } = await readBlockhash(account.chain, height);
  const message = buildReceiptMessage(signer.address, order.plan, fees, hash);
  const raw = await signer.signTransaction(message, (bytes) =>
    assertReceiptAllowed(signer.address, order, bytes),
  );
  const signature = base58.encode(raw.subarray(1, 65));
  return { signature, raw, lastValidHeight, price: fees.price, fee: feeOf(fees.units, fees.price) };
}

function signerOf({ signer, key }: SolanaAccount): SolanaSigner {
  if (signer === null) throw new Error(`the key ${key.address} was replaced and can no longer sign`);
  return signer;
}

/** Reads the rent of a receipt, the price per compute unit, and the finalized block height. */
function readTerms(account: SolanaAccount, { vault }: ReceiptOrder) {
  return Promise.all([readReceiptRent(account), proposePrice(account, vault), readEpoch(account.chain)]);
}

function readReceiptRent({ chain }: SolanaAccount): Promise<bigint> {
  return readRent(chain, TOKEN_ACCOUNT_BYTES);
}

/**
 * Returns the 75th percentile of the prices that recent transactions paid to write to the vault, but at most the cap.
 * Ignores the prices of writing to users' accounts, because users could drive those prices up. Anybody can drive up the
 * vault's price too, so a price above the cap is reported but does not block settlement.
 */
async function proposePrice(account: SolanaAccount, vault: string): Promise<bigint> {
  const { chain, maxPrice } = account;
  const prices = (await readPrices(chain, [vault])).sort((a, b) => (a < b ? -1 : 1));
  const price = prices[Math.floor(prices.length * PRICE_PERCENTILE)] ?? 0n;
  if (price <= maxPrice) return price;
  account.reportCappedPrice(
    `the market price on ${chain.name} is ${price} millionths of a lamport per compute unit, above the cap of ${maxPrice}`,
  );
  return maxPrice;
}

/**
 * The estimate for each settlement is its fee at the price cap, the rent of a receipt, and that of a token account
 * that a refund may have to create. The key must also stay rent-exempt.
 */
export async function assertReceiptsFunded(account: SolanaAccount, count: number): Promise<void> {
  const { chain, key, maxPrice } = account;
  const [balance, rent, minimum] = await Promise.all([
    readBalance(chain, key.address),
    readReceiptRent(account),
    readRent(chain, 0),
  ]);
  const needed = minimum + BigInt(count) * (2n * rent + feeOf(20_000, maxPrice));
  if (balance < needed)
    throw new Blocked(
      'operator_out_of_gas',
      `the operator ${key.address} has ${balance} lamports but needs ${needed} lamports on ${chain.name}`,
    );
}
