import { tokenizedSwapAbi } from '@causeway/contracts/encodings/tokenized-abi.ts';
import type { Hex } from 'viem';
import { numberToHex } from 'viem/utils';
import { toLowerHex } from '../address.ts';
import type { EvmChain } from './client.ts';
import { asWords, contractCall } from './contract-call.ts';
import { callNode } from './node-call.ts';
import { optionalView } from './optional-view.ts';
import type { EventLog } from './receipts.ts';
import { isSwapOf, SWAPPED_TOPIC } from './swapped-event.ts';

const STATE_STOPPED = 2n;
const PAUSE_ALL = 2n;
const PAUSE_BUY = 4n;
const PAUSE_SELL = 8n;

/**
 * Reads which sides can be traded now. The contract includes the venue's own pauses in its status: two words are the
 * state and flags of both sides, three are the flags and a state per side.
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

/** Reads how often the wallet has swapped this pair, which is the nonce of its next request. */
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

/** Reads the key that signs orders, or null if the contract does not expose it. */
export async function readOperator({ reader }: EvmChain, swap: Hex): Promise<Hex | null> {
  const operator = await optionalView(reader.read(contractCall(swap, tokenizedSwapAbi, 'operator', [])));
  return operator === undefined ? null : toLowerHex(operator);
}

/** Reads the EIP-712 domain name (EIP-5267), or null if the contract does not provide it. */
export async function readDomainName({ reader }: EvmChain, swap: Hex): Promise<string | null> {
  const domain = await optionalView(reader.read(contractCall(swap, tokenizedSwapAbi, 'eip712Domain', [])));
  return domain?.[1] ?? null;
}

export function readDomainSeparator({ reader }: EvmChain, swap: Hex): Promise<Hex> {
  return reader.read(contractCall(swap, tokenizedSwapAbi, 'domainSeparator', []));
}

export type AttestationQuery = {
  swap: Hex;
  wallet: Hex;
  input: Hex;
  output: Hex;
  attestationId: bigint;
  /** Seconds since the epoch. */
  expiration: bigint;
  fromBlock: bigint;
};

/** A `Swapped` event of any deployment; `isSwapOf` reads it. */
export type SwapLog = EventLog & { transactionHash: Hex };

/**
 * Finds the transaction that executed an attestation and returns whether the attestation has expired. Ignores blocks
 * with fewer than `confirmations` confirmations.
 */
export async function readOutcome(
  chain: EvmChain,
  { swap, expiration, fromBlock, ...execution }: AttestationQuery,
  confirmations: number,
): Promise<{ executed: Hex | null; isOver: boolean }> {
  const head = await chain.client.getBlockNumber();
  const settled = head - BigInt(confirmations - 1);
  if (settled < fromBlock) return { executed: null, isOver: false };
  const [block, logs] = await Promise.all([
    chain.client.getBlock({ blockNumber: settled }),
    readSwaps(chain, swap, fromBlock, settled),
  ]);
  const found = logs.find((log) => isSwapOf(log, execution));
  return { executed: found?.transactionHash ?? null, isOver: block.timestamp > expiration };
}

/** Reads the swaps in a range of blocks by address and first topic only: deployments index different arguments. */
export async function readSwaps(
  chain: EvmChain,
  swap: Hex,
  fromBlock: bigint,
  toBlock: bigint,
): Promise<SwapLog[]> {
  const range = { fromBlock: numberToHex(fromBlock), toBlock: numberToHex(toBlock) };
  const filter = { address: swap, topics: [SWAPPED_TOPIC], ...range };
  return (await callNode(chain, 'eth_getLogs', [filter])) as SwapLog[];
}
