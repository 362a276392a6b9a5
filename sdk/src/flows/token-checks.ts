import type { Hex } from 'viem';
import { decodeFunctionResult, encodeFunctionData } from 'viem/utils';
import { tokenAbi } from './abi.ts';
import { FlowFailure } from './flow.ts';
import type { Session } from './session.ts';
import { simulate } from './transaction.ts';

/** What the offer says about a token. */
type DescribedToken = { address: Hex; decimals: number; symbol?: string };

/**
 * Throws `token_mismatch` if the token's decimals or symbol on chain differ from those in the offer. With wrong
 * decimals, the user would see one amount and sign another. Skips any value that the token does not report in the
 * standard format.
 */
export async function assertDescribed(session: Session, token: DescribedToken): Promise<void> {
  const { address, decimals, symbol } = token;
  const [actualDecimals, actualSymbol] = await Promise.all([
    readToken(session, address, 'decimals'),
    symbol === undefined ? undefined : readToken(session, address, 'symbol'),
  ]);
  if (actualDecimals !== undefined && actualDecimals !== BigInt(decimals))
    throw mismatch(address, { decimals, actual: String(actualDecimals) });
  if (symbol !== undefined && actualSymbol !== undefined && actualSymbol !== symbol)
    throw mismatch(address, { symbol, actual: actualSymbol });
}

export function mismatch(token: string, details: Record<string, unknown>): FlowFailure {
  return new FlowFailure(
    'token_mismatch',
    'The token on chain does not match the offer, so nothing was sent.',
    { details: { token, ...details } },
  );
}

/** Returns undefined if the token lacks the function or its result cannot be decoded. */
async function readToken(
  session: Session,
  to: Hex,
  functionName: 'decimals' | 'symbol',
): Promise<string | bigint | undefined> {
  const returned = await simulate(session, {
    to,
    data: encodeFunctionData({ abi: tokenAbi, functionName }),
  }).catch((error: unknown) => {
    if (error instanceof FlowFailure) return '0x' as const;
    throw error;
  });
  try {
    return decodeFunctionResult({ abi: tokenAbi, functionName, data: returned });
  } catch {
    return undefined;
  }
}
