import type { Protocol } from '../rpc/rpc.ts';
import { CLOCK_SYSVAR } from './addresses.ts';
import { parseAccount } from './wire-account.ts';

const RATE_LIMITED = -32429;
/** The node has the transaction, but the transaction's version is newer than the caller accepts. */
export const UNSUPPORTED_VERSION = -32015;

/** The JSON-RPC of Solana nodes. */
export const SOLANA_PROTOCOL: Protocol = {
  classifyError: (method, { code }) => {
    if (code === RATE_LIMITED) return 'rate_limited';
    return method === 'sendTransaction' || code === UNSUPPORTED_VERSION ? null : 'invalid_response';
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
