import { hexToBigInt, hexToNumber, isHex } from 'viem/utils';
import { UpstreamFailure } from '../../outbound/failure.ts';
import type { Protocol } from '../rpc/rpc.ts';

// In EIP-1474, -32002 is "resource unavailable" and -32005 is "limit exceeded". Some providers use -32016 instead of
// -32005.
const RATE_LIMIT_CODES = new Set([-32002, -32005, -32016]);
const INTERNAL_ERROR = -32603;
/**
 * Matches the message for a log query with too many results. Providers send a rate limit code with this message, but a
 * retry would fail again.
 */
const TOO_MANY_LOGS = /more than [\d,]+ results|block range|response size/i;

/** The JSON-RPC of EVM nodes. */
export const EVM_PROTOCOL: Protocol = {
  classifyError: (code, message, data) => {
    if (RATE_LIMIT_CODES.has(code) && !TOO_MANY_LOGS.test(message))
      return new UpstreamFailure('rate_limited', message);
    // An internal error without data is a failure of the node. With data, it is a revert: some nodes report reverts
    // this way.
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
