import type { Session } from './session.ts';
import { SignInError } from './sign-in-error.ts';

type Expected = { issuer: string; clientId: string; now: number };

/** Clocks differ. */
const LEEWAY = 60_000;

/**
 * Who signed in. The ID token came straight from the token endpoint in the reply to our own request, so the connection
 * vouches for it in place of its signature (OpenID Connect Core §3.1.3.7, point 6).
 */
export function userOf(idToken: string | undefined, { issuer, clientId, now }: Expected): Session['user'] {
  if (idToken === undefined) return undefined;
  const { iss, aud, exp, sub, email } = claimsOf(idToken);
  const isOurs = iss === issuer && (Array.isArray(aud) ? aud : [aud]).includes(clientId);
  if (!isOurs || typeof sub !== 'string' || typeof exp !== 'number' || exp * 1000 + LEEWAY < now)
    throw new SignInError('issuer_mismatch');
  return { id: sub, email: typeof email === 'string' ? email : undefined };
}

function claimsOf(idToken: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString('utf8'));
  } catch {
    return {};
  }
}
