import { tokenizedSwapAbi } from '@causeway/contracts/encodings/tokenized-abi.ts';
import type { Hex } from 'viem';
import { ApiError } from '../../errors.ts';
import { multicallAbi } from './abi.ts';
import type { EvmChain } from './client.ts';
import { contractCall } from './reads.ts';

const ALL = 2;
const LEVELS = { buy: 4, sell: 8 };

/** Which sides the contract takes now, with the venue's own pauses folded in. */
export async function readTokenizedStatus(
  { reader }: EvmChain,
  swap: Hex,
  asset: Hex,
): Promise<{ buy: boolean; sell: boolean }> {
  const [state, flags] = await reader.read(contractCall(swap, tokenizedSwapAbi, 'status', [asset]));
  const runs = (level: number) => state !== 2 && (flags & (ALL | level)) === 0;
  return { buy: runs(LEVELS.buy), sell: runs(LEVELS.sell) };
}

/** What the contract takes of a buyer's gross amount. */
export async function readBuyFee(
  { reader }: EvmChain,
  swap: Hex,
  gross: bigint,
): Promise<{ fee: bigint; net: bigint }> {
  const [fee, net] = await reader.read(contractCall(swap, tokenizedSwapAbi, 'fee', [0, gross]));
  return { fee, net };
}

/** How often the wallet has swapped this pair: the nonce of its next request. */
export async function readSwapCount(
  { reader }: EvmChain,
  swap: Hex,
  wallet: Hex,
  input: Hex,
  output: Hex,
): Promise<bigint> {
  const totals = await reader.readNow(
    contractCall(swap, tokenizedSwapAbi, 'totals', [wallet, input, output]),
  );
  return totals[3];
}

export function readManager({ reader, memoize }: EvmChain, swap: Hex): Promise<Hex> {
  return memoize(`manager ${swap}`, async () => {
    const manager = await reader.read(contractCall(swap, tokenizedSwapAbi, 'manager', []));
    return manager.toLowerCase() as Hex;
  });
}

export async function readOperator({ reader }: EvmChain, swap: Hex): Promise<Hex> {
  const operator = await reader.read(contractCall(swap, tokenizedSwapAbi, 'operator', []));
  return operator.toLowerCase() as Hex;
}

/** The name by EIP-5267; null where the contract does not tell it. */
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

/** Of a block that is or was the newest; travels with other reads where it can. */
export async function readBlockNumber({ rpc, reader, facts: { multicall } }: EvmChain): Promise<bigint> {
  const ask = async () => BigInt(String(await rpc.request({ method: 'eth_blockNumber' })));
  if (multicall === null) return ask();
  return reader.read(contractCall(multicall, multicallAbi, 'getBlockNumber', [])).catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 422) return ask();
    throw error;
  });
}

export type LookUp = {
  swap: Hex;
  wallet: Hex;
  input: Hex;
  output: Hex;
  attestationId: bigint;
  /** Seconds since the epoch. */
  expiration: bigint;
  fromBlock: bigint;
};

/** The transaction that executed an attestation, and whether its time is over; as of so many confirmations. */
export async function readOutcome(
  { client }: EvmChain,
  { swap, wallet, input, output, attestationId, expiration, fromBlock }: LookUp,
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
  const found = logs.find(({ args }) => args.attestationId === attestationId);
  return { executed: found?.transactionHash ?? null, isOver: block.timestamp > expiration };
}
