import { tokenizedSwapAbi } from '@causeway/contracts/encodings/tokenized-abi.ts';
import type { Hex } from 'viem';
import { hexToBigInt, isHex, numberToHex, pad, toEventSelector, toHex } from 'viem/utils';
import { UpstreamFailure } from '../../outbound/failure.ts';
import { toLowerHex } from '../address.ts';
import type { RpcReply } from '../rpc/endpoint.ts';
import { resultOf } from '../rpc/endpoint.ts';
import type { EvmChain } from './client.ts';
import { asWords, contractCall, optionalView } from './contract-call.ts';
import type { EventLog } from './node-reads.ts';

const STATE_STOPPED = 2n;
const PAUSE_ALL = 2n;
const PAUSE_BUY = 4n;
const PAUSE_SELL = 8n;

/**
 * The status, which also reflects the venue's own pauses, is either the state of both sides and flags that pause one
 * side or both, or flags for both sides, the state of the buy side and that of the sell side.
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
type SwapLog = EventLog & { transactionHash: Hex };

/**
 * Also returns the timestamp of the last block, in seconds. Filters by address and first topic only, because
 * deployments index different arguments. Both queries go to one node, which must have the last block: a node that
 * lags behind would leave out the latest swaps.
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

/** The first topic of `Swapped`. It does not depend on which arguments are indexed. */
const SWAPPED_TOPIC: Hex = toEventSelector(
  tokenizedSwapAbi.find((item) => item.type === 'event') ?? 'Swapped()',
);

export type ExecutedSwap = { wallet: Hex; input: Hex; output: Hex; attestationId: bigint };

const ARGUMENT_COUNT = 8;

/**
 * The first four arguments are user, input, output and attestation, each one word. Deployments differ in which
 * arguments they index, so this tries every combination.
 */
export function isSwapOf({ topics, data }: EventLog, swap: ExecutedSwap): boolean {
  const [topic, ...indexed] = topics.map((word) => word.toLowerCase());
  const plain = splitWords(data);
  if (topic !== SWAPPED_TOPIC || indexed.length + plain.length !== ARGUMENT_COUNT) return false;
  const wanted = [swap.wallet, swap.input, swap.output, toHex(swap.attestationId)].map((value) =>
    pad(value).toLowerCase(),
  );
  // Most events belong to other orders, and trying every placement is slow.
  if (!wanted.every((word) => indexed.includes(word) || plain.includes(word))) return false;
  return PLACEMENTS.some((isIndexed) => {
    const topicWords = [...indexed];
    const dataWords = [...plain];
    if (isIndexed.filter(Boolean).length !== indexed.length) return false;
    const words = isIndexed.map((each) => (each ? topicWords : dataWords).shift());
    return wanted.every((word, i) => words[i] === word);
  });
}

/** Every possible choice of indexed arguments. An event indexes at most three. */
const PLACEMENTS: readonly boolean[][] = Array.from({ length: 2 ** ARGUMENT_COUNT }, (_, mask) =>
  Array.from({ length: ARGUMENT_COUNT }, (_, i) => (mask & (1 << i)) !== 0),
).filter((isIndexed) => isIndexed.filter(Boolean).length <= 3);

function splitWords(data: Hex): string[] {
  return (
    data
      .slice(2)
      .toLowerCase()
      .match(/.{64}/g)
      ?.map((word) => `0x${word}`) ?? []
  );
}
