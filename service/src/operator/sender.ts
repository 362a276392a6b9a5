import type { Hex } from 'viem';
import { keccak256 } from 'viem/utils';
import { NodeError } from '../chain/evm/failures.ts';
import { readQuantity } from '../chain/evm/quantity.ts';
import type { Db } from '../db/pool.ts';
import { newId } from '../http/ids.ts';
import type { OperatorAccount } from './account.ts';
import { Blocked } from './blocked.ts';
import { type Fees, proposeFees } from './fees.ts';
import type { Lease } from './lease.ts';
import { nextNonce, reserveNonce } from './nonces.ts';
import type { Signer } from './signer.ts';
import { insertTransaction, markSent } from './store.ts';
import type { OperatorCall, SignedCall } from './transaction.ts';
import { assertNonceUnused } from './unknown-transactions.ts';

/**
 * Signs a call with the next nonce, stores it together with what `apply` writes, and only then sends it. A crash before
 * the commit leaves nothing behind. After it, `followTransactions` on the node that holds the lease sends the stored bytes.
 */
export async function sendCall(
  account: OperatorAccount,
  lease: Lease,
  call: OperatorCall,
  apply: (tx: Db, transactionId: string) => Promise<void>,
): Promise<void> {
  const { chain, db, clock, random } = account;
  const fees = await proposeFees(chain, account.maxFee);
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

/** Returns a transfer of 0 wei to the key itself, which does nothing but use a nonce. */
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

/** Throws `Blocked` unless the account can pay `gas * maxFee`, which nodes require up front. */
async function assertFunded({ chain, signer }: OperatorAccount, wei: bigint): Promise<void> {
  const balance = await readQuantity(chain, 'eth_getBalance', [signer.address, 'latest']);
  if (balance < wei)
    throw new Blocked(
      'operator_out_of_gas',
      `the operator ${signer.address} has ${balance} wei but needs ${wei} wei`,
    );
}

/** Errors that mean the node already has the transaction, or has mined another one with its nonce. */
const ALREADY_KNOWN =
  /already known|known transaction|already imported|already exists|nonce too low|nonce is too low/i;

/** Returns whether the node would accept the same call with higher fees. */
export function isFeeError(message: string): boolean {
  return /underpriced|fee|gas price|tip/i.test(message);
}

/**
 * Sends stored bytes; safe to repeat. Returns null once a node has them, or else the node's error message, which the next
 * round handles. Only insufficient funds is reported immediately, by throwing `Blocked`.
 */
export async function broadcast({ chain, db, log }: OperatorAccount, raw: Hex): Promise<string | null> {
  const hash = keccak256(raw);
  try {
    await chain.rpc.request({ method: 'eth_sendRawTransaction', params: [raw] });
  } catch (err) {
    if (!(err instanceof NodeError) || !ALREADY_KNOWN.test(err.message)) {
      if (err instanceof NodeError && /insufficient funds|enough funds/i.test(err.message))
        throw new Blocked('operator_out_of_gas', err.message);
      log.warn({ err, chain: chain.name, transaction_hash: hash }, 'node did not accept the transaction');
      return err instanceof Error ? err.message : String(err);
    }
  }
  await markSent(db, hash);
  return null;
}
