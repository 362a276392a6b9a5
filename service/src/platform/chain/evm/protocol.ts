import { hexToBigInt, hexToNumber, isHex } from 'viem/utils';
import type { NodeError } from '../rpc/failures.ts';
import type { Protocol } from '../rpc/rpc.ts';
import { revertData } from './revert.ts';

// EIP-1474: "resource unavailable" and "limit exceeded". Some providers use -32016 for the latter.
const RATE_LIMIT_CODES = new Set([-32002, -32005, -32016]);
export const INTERNAL_ERROR = -32603;
/** Providers send a rate limit code with this message, but a retry would fail again. */
const TOO_MANY_LOGS = /more than [\d,]+ results|block range|response size/i;

export const EVM_PROTOCOL: Protocol = {
  classifyError: (method, error) => {
    if (RATE_LIMIT_CODES.has(error.code) && !TOO_MANY_LOGS.test(error.message)) return 'rate_limited';
    return isAnswer(method, error) ? null : 'invalid_response';
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

function isAnswer(method: string, error: NodeError): boolean {
  // With data, it is a revert: some nodes report reverts this way.
  if (error.code === INTERNAL_ERROR && error.data == null) return false;
  switch (method) {
    case 'eth_call':
    case 'eth_estimateGas':
      return revertData(error) !== undefined;
    case 'eth_sendRawTransaction':
    // Some nodes lack these methods; see `readFeeMarket`.
    case 'eth_feeHistory':
    case 'eth_maxPriorityFeePerGas':
      return true;
    default:
      return false;
  }
}
