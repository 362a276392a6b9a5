import { ApiError } from '../../errors.ts';

/** A refusal by the node itself, in the shape of EIP-1193: the request reached it and it said no. */
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

/** Why an endpoint gave no usable answer: it was silent, it asked to wait, or what it said makes no sense. */
export type EndpointFailureKind = 'silent' | 'limited' | 'nonsense';

export class EndpointFailure extends Error {
  readonly kind: EndpointFailureKind;
  readonly retryAfter: number;
  constructor(
    kind: EndpointFailureKind,
    message: string,
    options: { cause?: unknown; retryAfter?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = 'EndpointFailure';
    this.kind = kind;
    this.retryAfter = options.retryAfter ?? 1;
  }
}

/** What the caller of the API hears when no endpoint of a chain gave a usable answer. */
export function upstreamFailure(chain: string, failure: EndpointFailure): ApiError {
  const details = { upstream: `rpc:${chain}` };
  if (failure.kind === 'nonsense') return new ApiError('upstream_error', details, { cause: failure });
  const headers = { 'retry-after': String(Math.max(1, Math.ceil(failure.retryAfter))) };
  return new ApiError('upstream_unavailable', details, { cause: failure, headers });
}

/** viem wraps what its transport throws; this finds the failure that the caller of the API should hear of. */
export function findApiError(error: unknown): ApiError | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof ApiError) return current;
  }
  return undefined;
}
