import { type Hex, pad } from 'viem';
import { hexToBigInt, isHex } from 'viem/utils';
import type { EventLog } from './receipts.ts';

/** keccak256('Transfer(address,address,uint256)') */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/**
 * Returns for each row how much of its token its user sent to `to`, according to the token's `Transfer` events. If
 * several rows have the same user and token, the first row gets the first event, and so on. A row without an event gets
 * null.
 */
export function readTransfers(
  to: Hex,
  logs: readonly EventLog[],
  rows: readonly { user: Hex; token: Hex }[],
): (bigint | null)[] {
  const sent = new Map<string, bigint[]>();
  for (const { address, topics, data } of logs) {
    const [name, from, recipient, ...more] = topics;
    if (name !== TRANSFER || from === undefined || more.length > 0 || !isHex(data) || data === '0x') continue;
    if (recipient?.toLowerCase() !== pad(to).toLowerCase()) continue;
    const key = keyOf(address, from);
    sent.set(key, [...(sent.get(key) ?? []), hexToBigInt(data)]);
  }
  return rows.map(({ user, token }) => sent.get(keyOf(token, pad(user)))?.shift() ?? null);
}

function keyOf(token: Hex, from: Hex): string {
  return `${token} ${from}`.toLowerCase();
}
