import { base58 } from '@scure/base';
import { UpstreamFailure } from '../../outbound/failure.ts';
import type { RpcReply } from '../rpc/endpoint.ts';
import { NodeError } from '../rpc/failures.ts';
import type { SolanaChain } from './client.ts';
import { UNSUPPORTED_VERSION } from './client.ts';
import {
  MalformedTransaction,
  parseTransaction,
  resolveInstruction,
  type WireInstruction,
  type WireTransaction,
} from './wire-transaction.ts';

/** A confirmed transaction with every instruction that it executed, inner instructions included. */
export type ExecutedTransaction = { slot: bigint; isFailed: boolean; instructions: WireInstruction[] };

type Meta = {
  err?: unknown;
  innerInstructions?:
    | { instructions: { programIdIndex: number; accounts: number[]; data: string }[] }[]
    | null;
  loadedAddresses?: { writable?: string[]; readonly?: string[] } | null;
};

type Reply = { slot?: unknown; transaction?: unknown; meta?: Meta | null };

/**
 * Null if the node does not know the transaction, which may still exist. Throws `MalformedTransaction` for an
 * unsupported version. A reply without inner instructions could hide an approval, so another node is tried.
 */
export async function readTransaction(
  { rpc }: SolanaChain,
  signature: string,
): Promise<ExecutedTransaction | null> {
  const options = { encoding: 'base64', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
  const calls = [{ method: 'getTransaction', params: [signature, options] }];
  const [reply] = await rpc.batch(calls, assertComplete);
  if (reply === undefined) return null;
  if ('error' in reply) {
    if (reply.error instanceof NodeError && reply.error.code === UNSUPPORTED_VERSION)
      throw new MalformedTransaction();
    throw reply.error;
  }
  const found = reply.result as Reply | null;
  return found === null ? null : toExecuted(found);
}

function assertComplete([reply]: RpcReply[]): void {
  if (reply === undefined || 'error' in reply || reply.result === null) return;
  const { slot, transaction, meta } = reply.result as Reply;
  const isWhole = Number.isSafeInteger(slot) && Array.isArray(transaction) && meta != null;
  if (!isWhole) throw new UpstreamFailure('invalid_response', 'the transaction has no metadata');
  if (meta.err == null && !Array.isArray(meta.innerInstructions))
    throw new UpstreamFailure('invalid_response', 'the node does not record inner instructions');
}

function toExecuted({ slot, transaction, meta }: Reply): ExecutedTransaction {
  const isFailed = meta?.err != null;
  if (isFailed) return { slot: BigInt(Number(slot)), isFailed, instructions: [] };
  const [encoded] = transaction as [string];
  const { keys: own, instructions } = parseTransaction(Buffer.from(encoded, 'base64'));
  const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {};
  const keys = [...own, ...writable, ...readonly];
  const inner: WireTransaction['instructions'] = (meta?.innerInstructions ?? []).flatMap((group) =>
    group.instructions.map(({ programIdIndex, accounts, data }) => ({
      program: programIdIndex,
      accounts,
      data: Buffer.from(base58.decode(data)),
    })),
  );
  const all = [...instructions, ...inner].map((each) => resolveInstruction(keys, each));
  return { slot: BigInt(Number(slot)), isFailed, instructions: all };
}
