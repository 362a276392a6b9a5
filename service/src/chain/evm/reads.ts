import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type Hex,
  prepareEncodeFunctionData,
} from 'viem';
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import { ApiError } from '../../errors.ts';
import { UpstreamFailure } from '../../outbound/failure.ts';
import { createTokenBucket } from '../token-bucket.ts';
import { rpcError } from './failures.ts';
import { createHead } from './head.ts';
import { createAskAll, type RawResult } from './multicall.ts';
import { describeRevert } from './revert.ts';
import type { Rpc } from './rpc.ts';

/** A read of a contract; equal keys are the same read. */
export type Call<T> = { key: string; to: Hex; encode(): Hex; decode(data: Hex): T };

/** Reads of the latest block of one chain. Throws `contract_not_found`, `contract_reverted` or an upstream's failure. */
export type Reader = {
  read<T>(call: Call<T>): Promise<T>;
  /** Asks the chain, however much is known or under way: for what somebody has just changed and relies upon. */
  readNow<T>(call: Call<T>): Promise<T>;
};

export type ReaderOptions = {
  chain: string;
  rpc: Rpc;
  multicall: Hex | null;
  /** Under load, the least milliseconds between two questions whether the head has moved. */
  freshness: number;
};

type Outcome = { value: unknown } | { error: ApiError };
type Waiting = {
  call: Call<unknown>;
  data: Hex;
  resolve(outcome: Outcome): void;
  reject(error: unknown): void;
};

const WINDOW = 2;
const BATCH_LIMIT = 100;
const WAITING_LIMIT = 5_000;
const KEPT_LIMIT = 50_000;
const BURST = 40;

/**
 * Identical reads in flight share one answer, different ones that arrive together travel in one call, and answers are
 * kept for as long as their block is the head. With few readers every read asks the chain, so whoever has just seen a
 * transaction mined sees its effect; with many, what is known of the head is at most twice `freshness` old.
 */
export function createReader({ chain, rpc, multicall, freshness }: ReaderOptions): Reader {
  const askAll = createAskAll(rpc, multicall);
  const head = createHead(2 * freshness);
  const budget = createTokenBucket({ every: freshness, burst: BURST });
  const kept = new Map<string, Outcome>();
  const asked = new Map<string, Promise<Outcome>>();
  const code = new Set<Hex>();
  let collecting: Waiting[] | undefined;
  let waiting = 0;
  let travelling = 0;

  function read<T>(call: Call<T>): Promise<T> {
    const known = kept.get(call.key);
    const now = performance.now();
    if (known !== undefined && head.isFresh(now) && collecting === undefined && !budget.take(now))
      return open<T>(known);
    const inFlight = asked.get(call.key);
    if (inFlight !== undefined) return inFlight.then((outcome) => open<T>(outcome));
    return readNow(call);
  }

  function readNow<T>(call: Call<T>): Promise<T> {
    return ask(call).then((outcome) => open<T>(outcome));
  }

  function ask(call: Call<unknown>): Promise<Outcome> {
    if (waiting >= WAITING_LIMIT)
      return Promise.reject(
        rpcError(chain, new UpstreamFailure('no_response', 'too many reads are waiting')),
      );
    const data = call.encode();
    waiting += 1;
    const answer = new Promise<Outcome>((resolve, reject) => collect({ call, data, resolve, reject }));
    asked.set(call.key, answer);
    const forget = () => {
      waiting -= 1;
      if (asked.get(call.key) === answer) asked.delete(call.key);
    };
    answer.then(forget, forget);
    return answer;
  }

  function collect(entry: Waiting): void {
    if (collecting === undefined) {
      const batch: Waiting[] = [];
      collecting = batch;
      // Alone, a read leaves with what this turn of the loop has brought; behind others it waits for company.
      if (travelling === 0) setImmediate(send, batch);
      else setTimeout(send, WINDOW, batch);
    }
    collecting.push(entry);
    if (collecting.length >= BATCH_LIMIT) collecting = undefined;
  }

  async function send(batch: Waiting[]): Promise<void> {
    if (collecting === batch) collecting = undefined;
    const sentAt = performance.now();
    travelling += 1;
    try {
      const calls = batch.map(({ call, data }) => ({ to: call.to, data }));
      const { block, results } = await askAll(calls, head.check).finally(() => {
        travelling -= 1;
      });
      const before = head.id();
      head.see(block, sentAt);
      if (head.id() !== before) kept.clear();
      await Promise.all(batch.map((entry, index) => settle(entry, results[index], block.id)));
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  async function settle(
    { call, resolve, reject }: Waiting,
    result: RawResult | undefined,
    block: string,
  ): Promise<void> {
    try {
      const outcome = await interpret(call, result);
      if (block === head.id() && kept.size < KEPT_LIMIT) kept.set(call.key, outcome);
      resolve(outcome);
    } catch (error) {
      reject(error);
    }
  }

  async function interpret({ to, decode }: Call<unknown>, result: RawResult | undefined): Promise<Outcome> {
    if (result === undefined)
      throw rpcError(chain, new UpstreamFailure('invalid_response', 'a result is missing'));
    if (!result.success) return { error: reverted(describeRevert(result.data)) };
    if (result.data === '0x' && !(await hasCode(to)))
      return { error: new ApiError('contract_not_found', { address: to }) };
    try {
      return { value: decode(result.data) };
    } catch {
      return { error: reverted('the contract does not answer as its interface says') };
    }
  }

  async function hasCode(address: Hex): Promise<boolean> {
    if (code.has(address)) return true;
    const found = (await rpc.request({ method: 'eth_getCode', params: [address, 'latest'] })) !== '0x';
    if (found && code.size < KEPT_LIMIT) code.add(address);
    return found;
  }

  return { read, readNow };
}

function reverted(reason: string): ApiError {
  return new ApiError('contract_reverted', { reason });
}

function open<T>(outcome: Outcome): Promise<T> {
  return 'error' in outcome ? Promise.reject(copy(outcome.error)) : Promise.resolve(outcome.value as T);
}

// One error object thrown to many requests would carry the first one's stack and whatever is added to it on the way.
function copy({ code, details }: ApiError): ApiError {
  return new ApiError(code, details);
}

type View = 'view' | 'pure';
type Prepared = { abi: Abi; functionName: Hex; name: string };

/** Hashing a function's signature costs more than encoding a call of it, and it never changes. A name means one function. */
const preparedOf = new WeakMap<Abi, Map<string, Prepared>>();

function prepare(abi: Abi, name: string): Prepared {
  const known = preparedOf.get(abi) ?? new Map<string, Prepared>();
  preparedOf.set(abi, known);
  const found = known.get(name) ?? { ...prepareEncodeFunctionData({ abi, functionName: name }), name };
  known.set(name, found);
  return found;
}

export function contractCall<const A extends Abi, Name extends ContractFunctionName<A, View>>(
  to: Hex,
  abi: A,
  functionName: Name,
  args: ContractFunctionArgs<A, View, Name>,
): Call<ContractFunctionReturnType<A, View, Name>> {
  const prepared = prepare(abi as Abi, functionName);
  return {
    key: `${to}.${functionName}(${(args as readonly unknown[]).join()})`,
    to,
    encode: () => encodeFunctionData({ ...prepared, args: args as readonly unknown[] }),
    decode: (data) =>
      decodeFunctionResult({
        abi: prepared.abi,
        functionName: prepared.name,
        data,
      }) as ContractFunctionReturnType<A, View, Name>,
  };
}
