import { CausewayError, isCausewayError } from '../error.ts';

/** Whatever a call threw, as the one kind that components show. */
export function toCausewayError(error: unknown): CausewayError {
  if (isCausewayError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new CausewayError({ code: 'network_error', status: 0, message, cause: error });
}
