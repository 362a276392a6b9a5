import { CausewayError } from '../error.ts';
import { SignInError } from './sign-in-error.ts';

/**
 * Rethrows a `SignInError` as a `CausewayError`, so that client calls throw a `CausewayError` even if the token request
 * fails.
 */
export function throwAsCausewayError(error: unknown): never {
  if (!(error instanceof SignInError)) throw error;
  if (error.code === 'not_signed_in')
    throw new CausewayError({ code: error.code, status: 401, message: error.message, cause: error.cause });
  if (error.cause instanceof CausewayError) throw error.cause;
  throw new CausewayError({ code: 'network_error', status: 0, message: error.message, cause: error.cause });
}
