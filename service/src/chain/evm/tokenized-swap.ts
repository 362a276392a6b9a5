import { tokenizedSwapAbi } from '@causeway/contracts/encodings/tokenized-abi.ts';
import type { Hex } from 'viem';
import { ApiError } from '../../errors.ts';
import { toLowerHex } from '../address.ts';
import type { EvmChain } from './client.ts';
import { contractCall } from './contract-call.ts';

const STATE_STOPPED = 2;
const PAUSE_ALL = 2;
const PAUSE_BUY = 4;
const PAUSE_SELL = 8;

/** Reads which sides can be traded now. The contract includes the venue's own pauses in its status. */
export async function readTokenizedStatus(
  { reader }: EvmChain,
  swap: Hex,
  asset: Hex,
): Promise<{ buy: boolean; sell: boolean }> {
  const [state, flags] = await reader.read(contractCall(swap, tokenizedSwapAbi, 'status', [asset]));
  const isOpen = (pause: number) => state !== STATE_STOPPED && (flags & (PAUSE_ALL | pause)) === 0;
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

export async function readOperator({ reader }: EvmChain, swap: Hex): Promise<Hex> {
  return toLowerHex(await reader.read(contractCall(swap, tokenizedSwapAbi, 'operator', [])));
}

/** Reads the EIP-712 domain name (EIP-5267), or null if the contract does not provide it. */
export async function readDomainName({ reader }: EvmChain, swap: Hex): Promise<string | null> {
  try {
    const [, name] = await reader.read(contractCall(swap, tokenizedSwapAbi, 'eip712Domain', []));
    return name;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'contract_reverted') return null;
    throw error;
  }
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

/**
 * Finds the transaction that executed an attestation and returns whether the attestation has expired. Ignores blocks
 * with fewer than `confirmations` confirmations.
 */
export async function readOutcome(
  { client }: EvmChain,
  { swap, wallet, input, output, attestationId, expiration, fromBlock }: AttestationQuery,
  confirmations: number,
): Promise<{ executed: Hex | null; isOver: boolean }> {
  const head = await client.getBlockNumber();
  const settled = head - BigInt(confirmations - 1);
  if (settled < fromBlock) return { executed: null, isOver: false };
  const [block, logs] = await Promise.all([
    client.getBlock({ blockNumber: settled }),
    client.getContractEvents({
      address: swap,
      abi: tokenizedSwapAbi,
      eventName: 'Swapped',
      args: { user: wallet, input, output },
      fromBlock,
      toBlock: settled,
    }),
  ]);
  const execution = logs.find(({ args }) => args.attestationId === attestationId);
  return { executed: execution?.transactionHash ?? null, isOver: block.timestamp > expiration };
}

/** Returns the transactions that executed attestations in a range of blocks, by attestation id. */
export async function readExecutions(
  { client }: EvmChain,
  swap: Hex,
  fromBlock: bigint,
  toBlock: bigint,
): Promise<Map<bigint, Hex>> {
  const logs = await client.getContractEvents({
    ...{ address: swap, abi: tokenizedSwapAbi, eventName: 'Swapped', fromBlock, toBlock },
  });
  return new Map(
    logs.flatMap(({ args, transactionHash }) =>
      args.attestationId === undefined ? [] : [[args.attestationId, transactionHash]],
    ),
  );
}
