import { Stop } from './flow.ts';
import { findSwapped, sumTransfers } from './logs.ts';
import type { Place } from './offer-contract.ts';
import type { Receipt } from './receipt.ts';

type Hex = `0x${string}`;

/** What a swap has done, in smallest units and by the events of its transaction. */
export type SwapResult = {
  transactionHash: Hex;
  /** What the wallet was given. */
  received: bigint;
  /** What the wallet gave, `fee` included. */
  paid: bigint;
  fee: bigint;
};

/** Balances also move for other reasons: only the transfers of this very transaction count. */
export function readSwap(receipt: Receipt, wallet: Hex, { address, assetAddress, token }: Place): SwapResult {
  const { transactionHash } = receipt;
  const swapped = findSwapped(receipt, address, wallet);
  const output = assetAddress ?? swapped?.output;
  const received = output === undefined ? 0n : sumTransfers(receipt, output, { to: wallet });
  if (swapped === null || received === 0n)
    throw new Stop('outcome_unknown', 'The transaction was mined, but it tells of no swap.', {
      transactionHash,
    });
  const paid = sumTransfers(receipt, token.address, { from: wallet });
  return { transactionHash, received, paid, fee: swapped.fee };
}
