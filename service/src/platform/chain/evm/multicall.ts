import { multicall3 } from '@causeway/contracts/abi/multicall3.ts';
import type { Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData, isHex, numberToHex } from 'viem/utils';
import { UpstreamFailure } from '../../outbound/failure.ts';
import type { RpcReply } from '../rpc/endpoint.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { revertData } from './revert.ts';

type RawCall = { to: Hex; data: Hex };
export type RawResult = { success: boolean; data: Hex };

/** The block that a batch of reads ran against. The id distinguishes blocks of the same height. */
export type ObservedBlock = { number: number; id: string };

type BatchResult = { block: ObservedBlock; results: RawResult[] };

/** Throws `UpstreamFailure` if the block is so old that the node must have fallen out of sync. */
type CheckBlock = (block: ObservedBlock) => void;

type CallAll = (calls: RawCall[], checkBlock: CheckBlock) => Promise<BatchResult>;

const MAX_BATCH_CALLS = 100;
const NO_CODE_TTL_MS = 60_000;
// Callers choose the contracts, so without a limit, a view could keep a node busy for a long time.
const SINGLE_CALL_GAS = 5_000_000n;
const MULTICALL_GAS_PER_CALL = 1_000_000n;
const MAX_MULTICALL_GAS = 30_000_000n;

// In hex digits. No view that the service reads returns more; a megabyte takes viem more than 0.1 s to decode.
const MAX_RESULT_LENGTH = 4_096;

const AGGREGATE = { abi: multicall3.abi, functionName: 'aggregate3' } as const;

// The calls that identify the block. The parent hash alone is not enough, because two blocks can have the same parent.
const BLOCK_ID_CALLS = (
  ['getBlockNumber', 'getLastBlockHash', 'getCurrentBlockTimestamp', 'getCurrentBlockDifficulty'] as const
).map((functionName) => encodeFunctionData({ abi: multicall3.abi, functionName }));

/** Without a multicall contract, or if the multicall fails, sends the calls as a JSON-RPC batch. */
export function createCallAll(rpc: Rpc, multicall: Hex | null): CallAll {
  let noCodeUntil = multicall === null ? Number.POSITIVE_INFINITY : 0;
  return async (calls, checkBlock) => {
    if (multicall !== null && performance.now() >= noCodeUntil) {
      const result = await callMulticall(rpc, multicall, calls, checkBlock);
      if (result === 'failed') return callBatch(rpc, calls, checkBlock);
      if (result !== 'no code') return result;
      noCodeUntil = performance.now() + NO_CODE_TTL_MS;
    }
    return callBatch(rpc, calls, checkBlock);
  };
}

async function callMulticall(
  rpc: Rpc,
  multicall: Hex,
  calls: RawCall[],
  checkBlock: CheckBlock,
): Promise<BatchResult | 'no code' | 'failed'> {
  const all = [...BLOCK_ID_CALLS.map((data) => ({ to: multicall, data })), ...calls].map(
    ({ to: target, data: callData }) => ({ target, allowFailure: true, callData }),
  );
  const data = encodeFunctionData({ ...AGGREGATE, args: [all] });
  let result: BatchResult | 'no code' | 'failed' = 'failed';
  const gas = min(BigInt(all.length) * MULTICALL_GAS_PER_CALL, MAX_MULTICALL_GAS);
  const call = { to: multicall, data, gas: numberToHex(gas) };
  await rpc.batch([{ method: 'eth_call', params: [call, 'latest'] }], ([reply]) => {
    result = decodeAggregate(reply, calls.length);
    if (typeof result === 'object') checkBlock(result.block);
  });
  if (typeof result !== 'object') return result;
  return retryFailures(rpc, calls, result as BatchResult);
}

function decodeAggregate(reply: RpcReply | undefined, count: number): BatchResult | 'no code' | 'failed' {
  if (reply === undefined || 'error' in reply) return 'failed';
  if (reply.result === '0x') return 'no code';
  const total = count + BLOCK_ID_CALLS.length;
  if (isHex(reply.result) && reply.result.length > total * MAX_RESULT_LENGTH) return 'failed';
  try {
    const results = decodeFunctionResult({ ...AGGREGATE, data: reply.result as Hex }).map(
      ({ success, returnData }) => ({ success, data: returnData }),
    );
    if (results.length !== total) throw new Error('the number of results is wrong');
    const identity = results.slice(0, BLOCK_ID_CALLS.length).map(({ data }) => data);
    const rest = results.slice(BLOCK_ID_CALLS.length);
    return { block: { number: Number(identity[0]), id: identity.join() }, results: rest };
  } catch (cause) {
    throw new UpstreamFailure('invalid_response', 'the aggregate3 result cannot be decoded', { cause });
  }
}

// Resends the first failed call and all after it separately: the calls of a multicall share its gas, so a contract
// that burns nearly all of it makes the later calls fail.
async function retryFailures(rpc: Rpc, calls: RawCall[], result: BatchResult): Promise<BatchResult> {
  const first = result.results.findIndex(({ success }) => !success);
  if (first === -1) return result;
  const retried = await callEach(rpc, calls.slice(first), 'latest');
  return { ...result, results: [...result.results.slice(0, first), ...retried] };
}

async function callBatch(rpc: Rpc, calls: RawCall[], checkBlock: CheckBlock): Promise<BatchResult> {
  let block: ObservedBlock = { number: 0, id: '' };
  const latest = { method: 'eth_getBlockByNumber', params: ['latest', false] };
  await rpc.batch([latest], ([reply]) => {
    block = decodeBlock(reply);
    checkBlock(block);
  });
  return { block, results: await callEach(rpc, calls, numberToHex(block.number)) };
}

function decodeBlock(reply: RpcReply | undefined): ObservedBlock {
  const block =
    reply && 'result' in reply ? (reply.result as { number?: unknown; hash?: unknown } | null) : null;
  if (!isHex(block?.number) || !isHex(block?.hash))
    throw new UpstreamFailure('invalid_response', 'the node did not return the latest block');
  return { number: Number(block.number), id: block.hash };
}

async function callEach(rpc: Rpc, calls: RawCall[], block: string): Promise<RawResult[]> {
  const results: RawResult[] = [];
  for (let start = 0; start < calls.length; start += MAX_BATCH_CALLS) {
    const batch = calls.slice(start, start + MAX_BATCH_CALLS).map((call) => ({
      method: 'eth_call',
      params: [{ ...call, gas: numberToHex(SINGLE_CALL_GAS) }, block],
    }));
    await rpc.batch(batch, (replies) => {
      results.push(...replies.map(decodeCall));
    });
  }
  return results;
}

function decodeCall(reply: RpcReply): RawResult {
  if ('result' in reply) {
    if (!isHex(reply.result))
      throw new UpstreamFailure('invalid_response', 'eth_call did not return hex data');
    // Decoding a result that was cut off fails, unless the cut part does not matter.
    return { success: true, data: reply.result.slice(0, MAX_RESULT_LENGTH) as Hex };
  }
  const data = revertData(reply.error);
  if (data === undefined)
    throw new UpstreamFailure('invalid_response', `the node rejected eth_call: ${reply.error.message}`);
  return { success: false, data };
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}
