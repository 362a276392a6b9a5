import { ApiError } from '../../../kernel/errors.ts';
import { type UpstreamFailure, upstreamError } from '../../outbound/failure.ts';

/** An error that a node reported (EIP-1193): the request reached the node, and the node rejected it. */
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

/** Returns the error to report when no endpoint of the chain gave a usable response. */
export function rpcError(chain: string, failure: UpstreamFailure): ApiError {
  return upstreamError(`rpc:${chain}`, failure);
}

export function findNodeError(error: unknown): NodeError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof NodeError) return current;
  }
  return undefined;
}

/** Finds the `ApiError` among the causes of an error, because viem wraps every error that its transport throws. */
export function findApiError(error: unknown): ApiError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof ApiError) return current;
  }
  return undefined;
}
