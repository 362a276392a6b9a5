import { UpstreamFailure } from '../../outbound/failure.ts';
import type { Protocol } from '../rpc/rpc.ts';
import { CLOCK_SYSVAR } from './addresses.ts';
import { parseAccount } from './wire-account.ts';

/**
 * Errors that are the node's fault, not the call's:
 * - `-32004`, `-32007`, `-32009`: the node skipped or lacks a slot.
 * - `-32005`: the node is behind other nodes.
 * - `-32011`, `-32019`: the node lacks or cannot reach its history.
 * - `-32014`: the node has no status for a block yet.
 * - `-32016`: the node has not reached the requested slot.
 * - `-32603`: internal error.
 */
const NODE_FAILURES = new Set([-32004, -32005, -32007, -32009, -32011, -32014, -32016, -32019, -32603]);
const RATE_LIMITED = -32429;

/** The JSON-RPC of Solana nodes. */
export const SOLANA_PROTOCOL: Protocol = {
  classifyError: (code, message) => {
    if (code === RATE_LIMITED) return new UpstreamFailure('rate_limited', message);
    return NODE_FAILURES.has(code) ? new UpstreamFailure('invalid_response', message) : null;
  },
  headQuery: {
    requests: [
      [{ method: 'getGenesisHash', params: [] }],
      [
        {
          method: 'getAccountInfo',
          params: [CLOCK_SYSVAR, { commitment: 'confirmed', encoding: 'base64' }],
        },
      ],
    ],
    read: ([genesis, clock]) => {
      const time = readClock(clock);
      return typeof genesis === 'string' && time !== null ? { network: genesis, ...time } : null;
    },
  },
};

/** Reads the slot and the time from the reply to `getAccountInfo` for the clock account. */
export function readClock(reply: unknown): { number: bigint; timestamp: number } | null {
  const account = parseAccount((reply as { value?: unknown } | null)?.value);
  if (account === null || account.data.length < 40) return null;
  return { number: account.data.readBigUInt64LE(0), timestamp: Number(account.data.readBigInt64LE(32)) };
}
