import type { Hex } from 'viem';
import { toLowerHex } from '../address.ts';
import type { EvmChain } from './client.ts';
import { asWords, contractCall, fundSwapAbi, optionalView } from './contract-call.ts';

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

export function readOutputToken({ reader, memoize }: EvmChain, swap: Hex): Promise<Hex> {
  return memoize(`output token ${swap}`, async () =>
    toLowerHex(await reader.read(contractCall(swap, fundSwapAbi, 'outputToken', []))),
  );
}

export function readAuthorized(
  { reader }: Pick<EvmChain, 'reader'>,
  swap: Hex,
  wallet: Hex,
): Promise<boolean> {
  return reader.read(contractCall(swap, fundSwapAbi, 'authorized', [wallet]));
}

/**
 * Swaps are stopped if `stopped & swapLevel` is not zero. In the first generation, `stopped()` returns this mask. In
 * the second, `stopped()` returns a bool and `paused()` the mask. `status()` also reports whether the market is
 * closed: any nonzero word counts, because their order differs between deployments, but only if `stopped()` and
 * `paused()` are both zero, because the words repeat these flags.
 */
export async function readSwapStatus({ reader }: EvmChain, swap: Hex): Promise<SwapStatus> {
  const [stopped, swapLevel, paused, words] = await Promise.all([
    reader.read(contractCall(swap, fundSwapAbi, 'stopped', [])),
    reader.read(contractCall(swap, fundSwapAbi, 'SWAP_LEVEL', [])),
    optionalView(reader.read(contractCall(swap, fundSwapAbi, 'paused', []))),
    optionalView(reader.read(asWords(contractCall(swap, fundSwapAbi, 'status', [])))),
  ]);
  if (paused === undefined && words === undefined) return { stopped, swapLevel };
  const mask = BigInt(paused ?? 0);
  if (stopped !== 0n) return { stopped: mask | swapLevel, swapLevel };
  const isClosed = mask === 0n && (words ?? []).some((word) => word !== 0n);
  return { stopped: isClosed ? swapLevel : mask, swapLevel };
}
