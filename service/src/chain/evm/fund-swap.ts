import type { Hex } from 'viem';
import { ApiError } from '../../errors.ts';
import { toLowerHex } from '../address.ts';
import { fundSwapAbi } from './abi.ts';
import type { EvmChain } from './client.ts';
import { contractCall } from './contract-call.ts';

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

/** Reads the address of the token that the contract sells, once per contract. */
export function readOutputToken({ reader, memoize }: EvmChain, swap: Hex): Promise<Hex> {
  return memoize(`output token ${swap}`, async () =>
    toLowerHex(await reader.read(contractCall(swap, fundSwapAbi, 'outputToken', []))),
  );
}

export function readAuthorized({ reader }: EvmChain, swap: Hex, wallet: Hex): Promise<boolean> {
  return reader.read(contractCall(swap, fundSwapAbi, 'authorized', [wallet]));
}

/**
 * Reads the stop mask of either contract generation. Version 1 returns it from `stopped()`. In version 2 `stopped()` is a
 * bool, `paused()` returns the mask, and `status()` includes the state of the market behind the contract.
 */
export async function readSwapStatus({ reader }: EvmChain, swap: Hex): Promise<SwapStatus> {
  const [stopped, swapLevel, paused, status] = await Promise.all([
    reader.read(contractCall(swap, fundSwapAbi, 'stopped', [])),
    reader.read(contractCall(swap, fundSwapAbi, 'SWAP_LEVEL', [])),
    undefinedIfReverted(reader.read(contractCall(swap, fundSwapAbi, 'paused', []))),
    undefinedIfReverted(reader.read(contractCall(swap, fundSwapAbi, 'status', []))),
  ]);
  if (paused === undefined && status === undefined) return { stopped, swapLevel };
  const [state, flags] = status ?? [0, 0];
  const stoppedLevel = stopped !== 0n || state !== 0 ? swapLevel : 0n;
  return { stopped: BigInt(paused ?? 0) | BigInt(flags) | stoppedLevel, swapLevel };
}

function undefinedIfReverted<T>(read: Promise<T>): Promise<T | undefined> {
  return read.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'contract_reverted') return undefined;
    throw error;
  });
}
