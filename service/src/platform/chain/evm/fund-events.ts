import type { Hex } from 'viem';
import { hexToBigInt, hexToNumber, numberToHex } from 'viem/utils';
import { resultOf } from '../rpc/endpoint.ts';
import { findNodeError } from '../rpc/failures.ts';
import type { EvmChain } from './client.ts';
import type { EventLog } from './node-reads.ts';
import { decodeFundEvent, type FundEvent } from './sale-fund.ts';

export type MinedFundEvent = FundEvent & {
  fund: Hex;
  hash: Hex;
  blockNumber: bigint;
  blockHash: Hex;
  index: number;
};

type MinedLog = EventLog & { transactionHash: Hex; blockNumber: Hex; blockHash: Hex; logIndex: Hex };

/** The limits of a log query. Most providers reject queries that cover more blocks or addresses. */
const MAX_RANGE_BLOCKS = 2_000n;
const MAX_ADDRESSES = 50;
const CONCURRENT_RANGES = 4;

export async function readFundEvents(
  chain: EvmChain,
  funds: readonly Hex[],
  from: bigint,
  to: bigint,
): Promise<MinedFundEvent[]> {
  const logs: MinedLog[][] = [];
  for (let i = 0; i < funds.length; i += MAX_ADDRESSES)
    logs.push(await readLogs(chain, funds.slice(i, i + MAX_ADDRESSES), from, to));
  const events = logs.flat().flatMap((log) => {
    const event = decodeFundEvent(log);
    if (event === null || event.name === 'BatchFail') return [];
    return [
      {
        ...event,
        fund: log.address.toLowerCase() as Hex,
        hash: log.transactionHash,
        blockNumber: hexToBigInt(log.blockNumber),
        blockHash: log.blockHash,
        index: hexToNumber(log.logIndex),
      },
    ];
  });
  return events.sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.index - b.index);
}

/**
 * If the node rejects a range, splits it. Reads several ranges concurrently, because most of the time is spent
 * waiting.
 */
async function readLogs(
  chain: EvmChain,
  address: readonly Hex[],
  from: bigint,
  to: bigint,
): Promise<MinedLog[]> {
  const ranges: MinedLog[][] = [];
  let size = MAX_RANGE_BLOCKS;
  let next = from;
  const readRange = async (start: bigint, end: bigint): Promise<MinedLog[]> => {
    const filter = { address, fromBlock: numberToHex(start), toBlock: numberToHex(end) };
    try {
      return (await chain.rpc.request({ method: 'eth_getLogs', params: [filter] })) as MinedLog[];
    } catch (error) {
      const blocks = end - start + 1n;
      if (findNodeError(error) === undefined || blocks === 1n) throw error;
      const part = blocks / 4n || 1n;
      // Makes later ranges this small from the start, because the node is more likely to accept them.
      if (part < size) size = part;
      const logs: MinedLog[][] = [];
      for (let first = start; first <= end; first += part)
        logs.push((await readRange(first, smaller(first + part - 1n, end))) ?? []);
      return logs.flat();
    }
  };
  const work = async (): Promise<void> => {
    while (next <= to) {
      const start = next;
      const end = smaller(start + size - 1n, to);
      next = end + 1n;
      const index = ranges.push([]) - 1;
      ranges[index] = (await readRange(start, end)) ?? [];
    }
  };
  await Promise.all(Array.from({ length: CONCURRENT_RANGES }, work));
  return ranges.flat();
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

export type MinedTransaction = {
  hash: Hex;
  from: Hex;
  to: Hex | null;
  nonce: bigint;
  data: Hex;
  gas: bigint;
};

/** In the order of `hashes`, with null for each transaction that the node does not find. */
export async function readTransactions(
  { rpc }: EvmChain,
  hashes: readonly Hex[],
): Promise<(MinedTransaction | null)[]> {
  if (hashes.length === 0) return [];
  const replies = await rpc.batch(
    hashes.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] })),
  );
  return hashes.map((hash, i) => {
    const found = resultOf(replies[i]) as Record<'from' | 'to' | 'nonce' | 'input' | 'gas', Hex> | null;
    if (found === null) return null;
    return {
      hash,
      from: found.from.toLowerCase() as Hex,
      to: (found.to?.toLowerCase() ?? null) as Hex | null,
      nonce: hexToBigInt(found.nonce),
      data: found.input,
      gas: hexToBigInt(found.gas),
    };
  });
}
