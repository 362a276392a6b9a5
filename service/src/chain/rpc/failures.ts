import { ApiError } from '../../errors.ts';
import { type UpstreamFailure, upstreamError } from '../../outbound/failure.ts';

/** An error reported by the node itself (EIP-1193): the request reached it and was rejected. */
export class NodeError extends Error {
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.name = 'NodeError';
    this.code = code;
    this.data = data;
  }
}

/** Returns the error for a chain none of whose endpoints gave a usable response. */
export function rpcError(chain: string, failure: UpstreamFailure): ApiError {
  return upstreamError(`rpc:${chain}`, failure);
}

/** Returns the `ApiError` in the cause chain: viem wraps everything its transport throws. */
export function findApiError(error: unknown): ApiError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof ApiError) return current;
  }
  return undefined;
}
