import type { Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData, isHex, numberToHex } from 'viem/utils';
import { UpstreamFailure } from '../../outbound/failure.ts';
import { multicallAbi } from './abi.ts';
import type { RpcReply } from './endpoint.ts';
import { revertData } from './revert.ts';
import type { Rpc } from './rpc.ts';

export type RawCall = { to: Hex; data: Hex };
export type RawResult = { success: boolean; data: Hex };

/** A block as reads see it; `id` differs for two blocks of the same height. */
export type BlockSeen = { number: number; id: string };

export type Answer = { block: BlockSeen; results: RawResult[] };

/** Throws `UpstreamFailure` when the node that saw this block must not be believed. */
export type CheckBlock = (block: BlockSeen) => void;

/** Runs calls on one block, the latest. */
export type AskAll = (calls: RawCall[], checkBlock: CheckBlock) => Promise<Answer>;

const BATCH = 100;
const RECHECK_CODE = 60_000;
// What a view may cost. A contract named by a caller must not keep a node busy for longer than that.
const CALL_GAS = 5_000_000n;
const SHARED_GAS_EACH = 1_000_000n;
const SHARED_GAS_LIMIT = 30_000_000n;

const AGGREGATE3 = '0x82ad56cb';

// The parent's hash alone would not tell two blocks on the same parent apart.
const IDENTITY = (
  ['getBlockNumber', 'getLastBlockHash', 'getCurrentBlockTimestamp', 'getCurrentBlockDifficulty'] as const
).map((functionName) => encodeFunctionData({ abi: multicallAbi, functionName }));

/** Through the multicall contract where there is one, else as a JSON-RPC batch on the latest block. */
export function createAskAll(rpc: Rpc, multicall: Hex | null): AskAll {
  let noCodeUntil = multicall === null ? Number.POSITIVE_INFINITY : 0;
  return async (calls, checkBlock) => {
    if (multicall !== null && performance.now() >= noCodeUntil) {
      const answer = await askMulticall(rpc, multicall, calls, checkBlock);
      if (answer === 'failed') return askBatch(rpc, calls, checkBlock);
      if (answer !== 'no code') return answer;
      noCodeUntil = performance.now() + RECHECK_CODE;
    }
    return askBatch(rpc, calls, checkBlock);
  };
}

async function askMulticall(
  rpc: Rpc,
  multicall: Hex,
  calls: RawCall[],
  checkBlock: CheckBlock,
): Promise<Answer | 'no code' | 'failed'> {
  const all = [...IDENTITY.map((data) => ({ to: multicall, data })), ...calls];
  const data = encodeAggregate(all);
  let answer: Answer | 'no code' | 'failed' = 'failed';
  const gas = min(BigInt(all.length) * SHARED_GAS_EACH, SHARED_GAS_LIMIT);
  const call = { to: multicall, data, gas: numberToHex(gas) };
  await rpc.batch([{ method: 'eth_call', params: [call, 'latest'] }], ([reply]) => {
    answer = readAggregate(reply, calls.length);
    if (typeof answer === 'object') checkBlock(answer.block);
  });
  if (typeof answer !== 'object') return answer;
  return settleFailures(rpc, calls, answer as Answer);
}

/** `aggregate3` with failures allowed; by hand, because a general encoder takes ten times as long for many calls. */
export function encodeAggregate(calls: RawCall[]): Hex {
  let heads = '';
  let tails = '';
  for (const { to, data } of calls) {
    heads += word(calls.length * 32 + tails.length / 2);
    const bytes = data.length / 2 - 1;
    const padding = '0'.repeat(((32 - (bytes % 32)) % 32) * 2);
    tails += `${to.slice(2).toLowerCase().padStart(64, '0')}${word(1)}${word(96)}${word(bytes)}${data.slice(2)}${padding}`;
  }
  return `${AGGREGATE3}${word(32)}${word(calls.length)}${heads}${tails}`;
}

function word(value: number): string {
  return value.toString(16).padStart(64, '0');
}

function readAggregate(reply: RpcReply | undefined, count: number): Answer | 'no code' | 'failed' {
  if (reply === undefined || 'error' in reply) return 'failed';
  if (reply.result === '0x') return 'no code';
  try {
    const results = decodeFunctionResult({
      abi: multicallAbi,
      functionName: 'aggregate3',
      data: reply.result as Hex,
    });
    if (results.length !== count + IDENTITY.length) throw new Error('the wrong number of results');
    const identity = results.slice(0, IDENTITY.length).map(({ returnData }) => returnData);
    const rest = results
      .slice(IDENTITY.length)
      .map(({ success, returnData }) => ({ success, data: returnData }));
    return { block: { number: Number(identity[0]), id: identity.join() }, results: rest };
  } catch (cause) {
    throw new UpstreamFailure('invalid_response', 'the answer to aggregate3 cannot be read', { cause });
  }
}

// A contract may burn nearly all gas of the call it shares with others, and what comes after it fails for want of gas.
// So every failure, and all that follows the first, is asked again on its own.
async function settleFailures(rpc: Rpc, calls: RawCall[], answer: Answer): Promise<Answer> {
  const first = answer.results.findIndex(({ success }) => !success);
  if (first === -1) return answer;
  const again = await askEach(rpc, calls.slice(first), 'latest');
  return { ...answer, results: [...answer.results.slice(0, first), ...again] };
}

async function askBatch(rpc: Rpc, calls: RawCall[], checkBlock: CheckBlock): Promise<Answer> {
  let block: BlockSeen = { number: 0, id: '' };
  const latest = { method: 'eth_getBlockByNumber', params: ['latest', false] };
  await rpc.batch([latest], ([reply]) => {
    block = readBlock(reply);
    checkBlock(block);
  });
  return { block, results: await askEach(rpc, calls, numberToHex(block.number)) };
}

function readBlock(reply: RpcReply | undefined): BlockSeen {
  const block =
    reply && 'result' in reply ? (reply.result as { number?: unknown; hash?: unknown } | null) : null;
  if (!isHex(block?.number) || !isHex(block?.hash))
    throw new UpstreamFailure('invalid_response', 'no latest block');
  return { number: Number(block.number), id: block.hash };
}

async function askEach(rpc: Rpc, calls: RawCall[], block: string): Promise<RawResult[]> {
  const results: RawResult[] = [];
  for (let start = 0; start < calls.length; start += BATCH) {
    const part = calls
      .slice(start, start + BATCH)
      .map((call) => ({ method: 'eth_call', params: [{ ...call, gas: numberToHex(CALL_GAS) }, block] }));
    await rpc.batch(part, (replies) => {
      results.push(...replies.map(readCall));
    });
  }
  return results;
}

function min(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function readCall(reply: RpcReply): RawResult {
  if ('result' in reply) {
    if (!isHex(reply.result)) throw new UpstreamFailure('invalid_response', 'eth_call did not answer bytes');
    return { success: true, data: reply.result };
  }
  const data = revertData(reply.error);
  if (data === undefined)
    throw new UpstreamFailure('invalid_response', `eth_call was refused: ${reply.error.message}`);
  return { success: false, data };
}
