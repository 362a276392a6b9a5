import type { Hex } from 'viem';
import { hexToBigInt, isHex, keccak256, numberToHex } from 'viem/utils';
import type { EvmChain } from '../chain/evm/client.ts';
import { NodeError } from '../chain/evm/failures.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { newId } from '../http/ids.ts';
import { Blocked } from './blocked.ts';
import { type Fees, proposeFees } from './fees.ts';
import type { Lease } from './lease.ts';
import type { Signer } from './signer.ts';
import {
  type Attempt,
  insertTransaction,
  markSent,
  type OpenTransaction,
  type Signed,
  type TransactionKind,
} from './store.ts';

/** What sending for one key on one chain needs. */
export type Operator = Pick<Context, 'db' | 'log' | 'clock' | 'random'> & {
  chain: EvmChain;
  signer: Signer;
  /** Wei per unit of gas that is never exceeded. */
  maxFee: bigint;
};

export type Call = { kind: TransactionKind; target: Hex; data: Hex; gas: bigint };

/**
 * Signs a call with the next nonce, stores it together with what `apply` writes, and only then sends it. A crash before
 * the store leaves nothing; after it, `followTransactions` of whoever holds the lease sends the stored bytes.
 */
export async function sendCall(
  operator: Operator,
  lease: Lease,
  call: Call,
  apply: (tx: Db, transactionId: string) => Promise<void>,
): Promise<void> {
  const { chain, db, clock, random } = operator;
  const fees = await proposeFees(chain, operator.maxFee);
  await assertFunded(operator, call.gas * fees.maxFee);
  const nonce = lease.nextNonce ?? (await readNonce(operator, 'latest'));
  const id = newId(clock, random);
  const signed = await signCall(operator, call, nonce, fees);
  await db.transaction().execute(async (tx) => {
    await insertTransaction(tx, lease, { id, nonce, ...call }, signed);
    await apply(tx, id);
  });
  lease.nextNonce = nonce + 1n;
  await broadcast(operator, signed.raw);
}

/** Does nothing but use a nonce: a transfer of nothing to the key itself. */
export function emptyCall({ address }: Signer): Omit<Call, 'kind'> {
  return { target: address, data: '0x', gas: 21_000n };
}

export async function signCall(
  { chain, signer }: Operator,
  { target, data, gas }: Omit<Call, 'kind'>,
  nonce: bigint,
  { maxFee, priorityFee }: Fees,
): Promise<Signed> {
  const raw = await signer.signTransaction({
    chainId: chain.chainId,
    nonce: Number(nonce),
    to: target,
    data,
    gas,
    maxFeePerGas: maxFee,
    maxPriorityFeePerGas: priorityFee,
  });
  return { raw, maxFee, priorityFee };
}

/** A node asks for the whole of `gas * maxFee` up front. */
async function assertFunded({ chain, signer }: Operator, wei: bigint): Promise<void> {
  const balance = await readQuantity(chain, 'eth_getBalance', [signer.address, 'latest']);
  if (balance < wei)
    throw new Blocked(
      'operator_out_of_gas',
      `the operator ${signer.address} has ${balance} wei and needs ${wei}`,
    );
}

export function readNonce({ chain, signer }: Operator, block: 'latest' | bigint): Promise<bigint> {
  const tag = block === 'latest' ? block : numberToHex(block);
  return readQuantity(chain, 'eth_getTransactionCount', [signer.address, tag]);
}

export async function readQuantity({ rpc }: EvmChain, method: string, params: unknown[]): Promise<bigint> {
  const answer = await rpc.request({ method, params });
  if (!isHex(answer)) throw new Error(`${method} did not answer a quantity`);
  return hexToBigInt(answer);
}

/** What nodes answer when they have the transaction already, or a mined one in its place. */
const TAKEN =
  /already known|known transaction|already imported|already exists|nonce too low|nonce is too low/i;

/** Whether a node would take the same call for more. */
export function isAboutFees(refusal: string): boolean {
  return /underpriced|fee|gas price|tip/i.test(refusal);
}

/**
 * Sends stored bytes; may be repeated at will. Answers null when a node has them now, else why not: what comes of that is
 * left to the next round. Only an empty purse is told at once.
 */
export async function broadcast({ chain, db, log }: Operator, raw: Hex): Promise<string | null> {
  const hash = keccak256(raw);
  try {
    await chain.rpc.request({ method: 'eth_sendRawTransaction', params: [raw] });
  } catch (err) {
    if (!(err instanceof NodeError) || !TAKEN.test(err.message)) {
      if (err instanceof NodeError && /insufficient funds|enough funds/i.test(err.message))
        throw new Blocked('operator_out_of_gas', err.message);
      log.warn({ err, chain: chain.name, transaction_hash: hash }, 'a transaction was not taken by the node');
      return err instanceof Error ? err.message : String(err);
    }
  }
  await markSent(db, hash);
  return null;
}

/** The attempt that replaces all others. */
export function lastAttempt({ attempts }: OpenTransaction): Attempt {
  const last = attempts.at(-1);
  if (last === undefined) throw new Error('a transaction without an attempt');
  return last;
}
