import { timingSafeEqual } from 'node:crypto';
import { SignInError, toSignInErrorCode } from './sign-in-error.ts';

/** A sign-in in progress. Store it where only this browser and this server can read it. */
export type Pending = {
  readonly state: string;
  readonly verifier: string;
  readonly returnTo: string;
  /** When the sign-in expires, in milliseconds since 1970. */
  readonly until: number;
};

/**
 * Returns the authorization code from a callback. Throws `SignInError` unless the callback belongs to this browser's
 * pending sign-in and comes from the expected issuer (RFC 9207).
 */
export function checkCallback(
  callback: string | URL | URLSearchParams,
  pending: Pending | undefined,
  { issuer, now }: { issuer: string; now: number },
): { code: string; state: string; verifier: string } {
  const parameters = parametersOf(callback);
  const state = singleValue(parameters, 'state');
  if (pending === undefined || state === undefined || !isEqual(state, pending.state))
    throw new SignInError('state_mismatch');
  if (pending.until <= now) throw new SignInError('expired');
  if (singleValue(parameters, 'iss') !== issuer) throw new SignInError('issuer_mismatch');
  const error = singleValue(parameters, 'error');
  if (error !== undefined) throw new SignInError(toSignInErrorCode(error));
  const code = singleValue(parameters, 'code');
  if (code === undefined) throw new SignInError('refused');
  return { code, state, verifier: pending.verifier };
}

function parametersOf(callback: string | URL | URLSearchParams): URLSearchParams {
  if (callback instanceof URLSearchParams) return callback;
  return new URL(callback, 'http://localhost').searchParams;
}

/** Returns undefined unless the parameter occurs exactly once. RFC 6749 §3.1 forbids repeated parameters. */
function singleValue(parameters: URLSearchParams, name: string): string | undefined {
  const values = parameters.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
