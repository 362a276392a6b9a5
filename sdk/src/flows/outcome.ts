import type { Hex } from 'viem';
import { FlowFailure } from './flow.ts';
import { findSwapped, sumTransfers } from './logs.ts';
import type { Deployment } from './offer-contract.ts';
import type { Receipt } from './rpc.ts';

/** The result of a swap, read from the events of its transaction. Amounts are in smallest units. */
export type SwapResult = {
  transactionHash: Hex;
  /** The amount that the wallet received. */
  received: bigint;
  /** The amount that the wallet paid, including `fee`. */
  paid: bigint;
  fee: bigint;
};

/**
 * Reads a swap's result from the transfers in its receipt. Does not compare balances, because other transactions also
 * change them.
 */
export function readSwapResult(
  receipt: Receipt,
  wallet: Hex,
  { address, assetAddress, token }: Deployment,
): SwapResult {
  const { transactionHash } = receipt;
  const swapped = findSwapped(receipt, address, wallet);
  const output = assetAddress ?? swapped?.output;
  const received = output === undefined ? 0n : sumTransfers(receipt, output, { to: wallet });
  if (swapped === null || received === 0n)
    throw new FlowFailure('outcome_unknown', 'The transaction was mined, but it has no swap event.', {
      transactionHash,
    });
  const paid = sumTransfers(receipt, token.address, { from: wallet });
  return { transactionHash, received, paid, fee: swapped.fee };
}
