import { hexToBigInt, hexToNumber, isHex } from 'viem/utils';
import { UpstreamFailure } from '../../outbound/failure.ts';
import type { Protocol } from '../rpc/rpc.ts';

// The codes for "resource unavailable" and "limit exceeded" (EIP-1474), and one that some providers use instead of
// "limit exceeded".
const RATE_LIMIT_CODES = new Set([-32002, -32005, -32016]);
const INTERNAL_ERROR = -32603;
/** Providers use the same codes if a log query has too many results. Such a query fails again after any wait. */
const TOO_MANY_LOGS = /more than [\d,]+ results|block range|response size/i;

/** The JSON-RPC of EVM nodes. */
export const EVM_PROTOCOL: Protocol = {
  classifyError: (code, message, data) => {
    if (RATE_LIMIT_CODES.has(code) && !TOO_MANY_LOGS.test(message))
      return new UpstreamFailure('rate_limited', message);
    // Some nodes report a revert as an internal error with data. Without data, the node itself failed.
    const isInternal = code === INTERNAL_ERROR && data == null;
    return isInternal ? new UpstreamFailure('invalid_response', message) : null;
  },
  headQuery: {
    requests: [
      [
        { method: 'eth_chainId', params: [] },
        { method: 'eth_getBlockByNumber', params: ['latest', false] },
      ],
    ],
    read: ([id, block]) => {
      const { number, timestamp } = (block ?? {}) as { number?: unknown; timestamp?: unknown };
      if (!isHex(id) || !isHex(number) || !isHex(timestamp)) return null;
      const head = { number: hexToBigInt(number), timestamp: hexToNumber(timestamp) };
      return { network: String(hexToNumber(id)), ...head };
    },
  },
};
