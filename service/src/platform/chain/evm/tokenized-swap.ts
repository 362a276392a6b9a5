import { tokenizedSwapAbi } from '@causeway/contracts/encodings/tokenized-abi.ts';
import type { Hex } from 'viem';
import { hexToBigInt, isHex, numberToHex } from 'viem/utils';
import { UpstreamFailure } from '../../outbound/failure.ts';
import { toLowerHex } from '../address.ts';
import type { RpcReply } from '../rpc/endpoint.ts';
import { resultOf } from '../rpc/reply.ts';
import type { EvmChain } from './client.ts';
import { asWords, contractCall } from './contract-call.ts';
import { optionalView } from './optional-view.ts';
import type { EventLog } from './receipts.ts';
import { SWAPPED_TOPIC } from './swapped-event.ts';

const STATE_STOPPED = 2n;
const PAUSE_ALL = 2n;
const PAUSE_BUY = 4n;
const PAUSE_SELL = 8n;

/**
 * Reads which sides (buy, sell) can be traded now. The contract's status, which also reflects the venue's own pauses,
 * has one of two forms:
 * - Two words: the state of both sides, then flags that pause one side or both.
 * - Three words: flags for both sides, the state of the buy side, then the state of the sell side.
 */
export async function readTokenizedStatus(
  { reader }: EvmChain,
  swap: Hex,
  asset: Hex,
): Promise<{ buy: boolean; sell: boolean }> {
  const words = await reader.read(asWords(contractCall(swap, tokenizedSwapAbi, 'status', [asset])));
  if (words.length >= 3) {
    const [flags, buyState, sellState] = words;
    return { buy: flags === 0n && buyState === 0n, sell: flags === 0n && sellState === 0n };
  }
  const [state = 0n, flags = 0n] = words;
  const isOpen = (pause: bigint) => state !== STATE_STOPPED && (flags & (PAUSE_ALL | pause)) === 0n;
  return { buy: isOpen(PAUSE_BUY), sell: isOpen(PAUSE_SELL) };
}

/** Reads the fee that the contract deducts from a buyer's gross amount. */
export async function readBuyFee(
  { reader }: EvmChain,
  swap: Hex,
  gross: bigint,
): Promise<{ fee: bigint; net: bigint }> {
  const [fee, net] = await reader.read(contractCall(swap, tokenizedSwapAbi, 'fee', [0, gross]));
  return { fee, net };
}

/** Reads how many times the wallet has swapped this pair. This count is the nonce of the wallet's next request. */
export async function readSwapCount(
  { reader }: EvmChain,
  swap: Hex,
  wallet: Hex,
  input: Hex,
  output: Hex,
): Promise<bigint> {
  const [, , , count] = await reader.readNow(
    contractCall(swap, tokenizedSwapAbi, 'totals', [wallet, input, output]),
  );
  return count;
}

/** Reads the address of the key that signs orders. Returns null if the contract does not expose the address. */
export async function readOperator({ reader }: EvmChain, swap: Hex): Promise<Hex | null> {
  const operator = await optionalView(reader.read(contractCall(swap, tokenizedSwapAbi, 'operator', [])));
  return operator === undefined ? null : toLowerHex(operator);
}

/** Returns the EIP-712 domain name that the contract reports (EIP-5267), or null if it reports none. */
export async function readDomainName({ reader }: EvmChain, swap: Hex): Promise<string | null> {
  const domain = await optionalView(reader.read(contractCall(swap, tokenizedSwapAbi, 'eip712Domain', [])));
  return domain?.[1] ?? null;
}

export function readDomainSeparator({ reader }: EvmChain, swap: Hex): Promise<Hex> {
  return reader.read(contractCall(swap, tokenizedSwapAbi, 'domainSeparator', []));
}

/** An undecoded `Swapped` event. Deployments index different arguments; `isSwapOf` handles all of these variants. */
export type SwapLog = EventLog & { transactionHash: Hex };

/**
 * Reads the swaps in a range of blocks, and the timestamp of the last block in seconds since the epoch. Filters by
 * address and first topic only, because deployments index different arguments. Sends both queries to one node, which
 * must have the last block: a node that lags behind would leave out the latest swaps.
 */
export async function readSwaps(
  { rpc }: EvmChain,
  swap: Hex,
  fromBlock: bigint,
  toBlock: bigint,
): Promise<{ swaps: SwapLog[]; timestamp: bigint }> {
  const [from, to] = [numberToHex(fromBlock), numberToHex(toBlock)];
  const filter = { address: swap, topics: [SWAPPED_TOPIC], fromBlock: from, toBlock: to };
  const calls = [
    { method: 'eth_getBlockByNumber', params: [to, false] },
    { method: 'eth_getLogs', params: [filter] },
  ];
  const [block, logs] = await rpc.batch(calls, ([reply]) => void timestampOf(reply, toBlock));
  return { swaps: (resultOf(logs) ?? []) as SwapLog[], timestamp: timestampOf(block, toBlock) };
}

function timestampOf(reply: RpcReply | undefined, number: bigint): bigint {
  const { timestamp } = (resultOf(reply) ?? {}) as { timestamp?: unknown };
  if (isHex(timestamp)) return hexToBigInt(timestamp);
  throw new UpstreamFailure('invalid_response', `the node has no block ${number}`);
}
