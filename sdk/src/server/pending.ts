import { timingSafeEqual } from 'node:crypto';
import { codeOfAnswer, SignInError } from './sign-in-error.ts';

/** A sign-in that has begun; keep it where only this browser and this server have it. */
export type Pending = {
  readonly state: string;
  readonly verifier: string;
  readonly returnTo: string;
  /** Milliseconds since 1970. */
  readonly until: number;
};

/** What came back must belong to what this browser began, and come from the server that was asked (RFC 9207). */
export function checkAnswer(
  callback: string | URL | URLSearchParams,
  pending: Pending | undefined,
  { issuer, now }: { issuer: string; now: number },
): { code: string; state: string; verifier: string } {
  const answer = parametersOf(callback);
  const state = single(answer, 'state');
  if (pending === undefined || state === undefined || !isSame(state, pending.state))
    throw new SignInError('state_mismatch');
  if (pending.until <= now) throw new SignInError('expired');
  if (single(answer, 'iss') !== issuer) throw new SignInError('issuer_mismatch');
  const error = single(answer, 'error');
  if (error !== undefined) throw new SignInError(codeOfAnswer(error));
  const code = single(answer, 'code');
  if (code === undefined) throw new SignInError('refused');
  return { code, state, verifier: pending.verifier };
}

function parametersOf(callback: string | URL | URLSearchParams): URLSearchParams {
  if (callback instanceof URLSearchParams) return callback;
  return new URL(callback, 'http://localhost').searchParams;
}

/** A parameter that is there twice is nobody's answer (RFC 6749 §3.1). */
function single(answer: URLSearchParams, name: string): string | undefined {
  const values = answer.getAll(name);
  return values.length === 1 ? values[0] : undefined;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
