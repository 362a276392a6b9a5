import type { Hex } from 'viem';
import { keccak256 } from 'viem/utils';
import { newId } from '../../kernel/ids.ts';
import { readQuantity } from '../chain/evm/node-reads.ts';
import type { Db } from '../db/pool.ts';
import { keyId, type OperatorAccount } from './account.ts';
import { Blocked } from './blocked.ts';
import { type Fees, proposeFees } from './fees.ts';
import type { Lease } from './lease.ts';
import { classifyRejection } from './node-errors.ts';
import { nextNonce, reserveNonce } from './nonces.ts';
import { isSendDue, type Refusal, recordRefusal } from './refused-attempts.ts';
import type { Signer } from './signer.ts';
import { insertTransaction, markSent, sumSpent } from './store.ts';
import type { Attempt, OperatorCall, SignedCall } from './transaction.ts';
import { assertNonceUnused } from './unknown-transactions.ts';

/**
 * Stores the signed transaction together with what `apply` writes, and only then sends it. If the process crashes
 * before the commit, nothing was stored or sent; if later, the node that holds the lease sends the stored bytes.
 */
export async function sendCall(
  account: OperatorAccount,
  lease: Lease,
  call: OperatorCall,
  apply: (tx: Db, transactionId: string) => Promise<void>,
): Promise<void> {
  const { chain, db, clock, random } = account;
  const fees = await proposeFees(chain, account);
  await assertWithinDailyLimit(account, call.gas * fees.maxFee);
  await assertFunded(account, call.gas * fees.maxFee);
  const nonce = await nextNonce(account, lease);
  await assertNonceUnused(account, lease, nonce);
  const id = newId(clock, random);
  const signed = await signCall(account, call, nonce, fees);
  await db.transaction().execute(async (tx) => {
    await reserveNonce(tx, lease, nonce);
    await insertTransaction(tx, lease, { id, nonce, ...call }, signed);
    await apply(tx, id);
  });
  lease.nextNonce = nonce + 1n;
  await broadcast(account, signed.raw);
}

export function emptyCall({ address }: Signer): Omit<OperatorCall, 'kind'> {
  return { target: address, data: '0x', gas: 21_000n };
}

export async function signCall(
  { chain, signer }: OperatorAccount,
  { target, data, gas }: Omit<OperatorCall, 'kind'>,
  nonce: bigint,
  { maxFee, priorityFee }: Fees,
): Promise<SignedCall> {
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

/** Throws `Blocked` if spending `wei` more on gas would exceed the key's limit for 24 hours. */
export async function assertWithinDailyLimit(account: OperatorAccount, wei: bigint): Promise<void> {
  const spent = await sumSpent(account.db, keyId(account));
  if (spent + wei > account.dailyLimit)
    throw new Blocked(
      'daily_limit',
      `the operator ${account.signer.address} has spent up to ${spent} wei on ${account.chain.name} in the last 24 hours; another ${wei} wei would exceed the limit of ${account.dailyLimit} wei`,
    );
}

/** `wei` is the maximum cost of a transaction. Nodes require this balance up front. */
async function assertFunded({ chain, signer }: OperatorAccount, wei: bigint): Promise<void> {
  const balance = await readQuantity(chain, 'eth_getBalance', [signer.address, 'latest']);
  if (balance < wei)
    throw new Blocked(
      'operator_out_of_gas',
      `the operator ${signer.address} has ${balance} wei but needs ${wei} wei`,
    );
}

/**
 * Sends a stored transaction to every endpoint; safe to repeat. Returns null if a node has accepted the transaction or
 * already knows it, or if its nonce has been used. Otherwise returns why the transaction was rejected, so that the
 * caller or the next round can decide what to do. Throws `Blocked` for insufficient funds.
 */
export async function broadcast(account: OperatorAccount, raw: Hex): Promise<Refusal | null> {
  const { chain, db, refused } = account;
  const hash = keccak256(raw);
  try {
    await chain.rpc.requestAll({ method: 'eth_sendRawTransaction', params: [raw] });
  } catch (error) {
    const rejection = classifyRejection(error);
    if (rejection !== 'already_known' && rejection !== 'nonce_used')
      return assertNotUnfunded(recordRefusal(account, hash, error));
  }
  refused.delete(hash);
  await markSent(db, hash);
  return null;
}

/** Until `resendSeconds` have passed since the attempt was last sent, returns or throws what `broadcast` did. */
export async function resend(
  account: OperatorAccount,
  { hash, raw, sentAge }: Attempt,
  resendSeconds: number,
): Promise<Refusal | null> {
  if (isSendDue(account.refused, hash, sentAge, resendSeconds)) return broadcast(account, raw);
  const refusal = account.refused.get(hash);
  return refusal === undefined ? null : assertNotUnfunded(refusal);
}

function assertNotUnfunded(refusal: Refusal): Refusal {
  if (refusal.rejection === 'insufficient_funds') throw new Blocked('operator_out_of_gas', refusal.message);
  return refusal;
}
