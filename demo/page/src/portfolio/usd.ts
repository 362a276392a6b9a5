import { groupDigits } from '@causeway/sdk/react';

/** Formats millionths of a dollar with two decimals, truncated: `1234567890n` becomes `$1,234.56`. */
export function showUsd(millionths: bigint): string {
  const cents = (millionths < 0n ? -millionths : millionths) / 10_000n;
  const sign = millionths < 0n && cents > 0n ? '−' : '';
  return `${sign}$${groupDigits(`${cents / 100n}.${(cents % 100n).toString().padStart(2, '0')}`)}`;
}
