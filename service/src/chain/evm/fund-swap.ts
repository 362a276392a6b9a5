import type { Hex } from 'viem';
import { ApiError } from '../../errors.ts';
import { fundSwapAbi } from './abi.ts';
import type { EvmChain } from './client.ts';
import { contractCall } from './reads.ts';

export type SwapPreview = { input: bigint; fee: bigint; output: bigint };
export type SwapStatus = { stopped: bigint; swapLevel: bigint };

export async function readPreview(
  { reader }: EvmChain,
  swap: Hex,
  inputToken: Hex,
  amount: bigint,
): Promise<SwapPreview> {
  const [input, fee, output] = await reader.read(
    contractCall(swap, fundSwapAbi, 'preview', [inputToken, amount]),
  );
  return { input, fee, output };
}

/** What the contract sells; asked once. */
export function readOutputToken({ reader, memoize }: EvmChain, swap: Hex): Promise<Hex> {
  return memoize(`output token ${swap}`, async () => {
    const address = await reader.read(contractCall(swap, fundSwapAbi, 'outputToken', []));
    return address.toLowerCase() as Hex;
  });
}

export function readAuthorized({ reader }: EvmChain, swap: Hex, wallet: Hex): Promise<boolean> {
  return reader.read(contractCall(swap, fundSwapAbi, 'authorized', [wallet]));
}

/**
 * The stop mask, whichever generation the contract is of. The older keeps it in `stopped()`. In the newer `stopped()` is
 * a bool, the mask is in `paused()`, and `status()` also counts what stands behind the contract.
 */
export async function readSwapStatus({ reader }: EvmChain, swap: Hex): Promise<SwapStatus> {
  const [stopped, swapLevel, paused, status] = await Promise.all([
    reader.read(contractCall(swap, fundSwapAbi, 'stopped', [])),
    reader.read(contractCall(swap, fundSwapAbi, 'SWAP_LEVEL', [])),
    unlessMissing(reader.read(contractCall(swap, fundSwapAbi, 'paused', []))),
    unlessMissing(reader.read(contractCall(swap, fundSwapAbi, 'status', []))),
  ]);
  if (paused === undefined && status === undefined) return { stopped, swapLevel };
  const [state, flags] = status ?? [0, 0];
  const closed = stopped !== 0n || state !== 0 ? swapLevel : 0n;
  return { stopped: BigInt(paused ?? 0) | BigInt(flags) | closed, swapLevel };
}

function unlessMissing<T>(read: Promise<T>): Promise<T | undefined> {
  return read.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'contract_reverted') return undefined;
    throw error;
  });
}
