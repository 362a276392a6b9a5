import type { Session } from './session.ts';
import { SignInError } from './sign-in-error.ts';

type Expected = { issuer: string; clientId: string; now: number };

const CLOCK_TOLERANCE_MS = 60_000;

/**
 * Returns the user that an ID token identifies. The signature need not be checked, because the token comes directly
 * from the token endpoint in response to our own request (OpenID Connect Core §3.1.3.7, point 6).
 */
export function userOf(idToken: string | undefined, { issuer, clientId, now }: Expected): Session['user'] {
  if (idToken === undefined) return undefined;
  const { iss, aud, exp, sub, email } = decodeClaims(idToken);
  const isForUs = iss === issuer && (Array.isArray(aud) ? aud : [aud]).includes(clientId);
  const isExpired = typeof exp !== 'number' || exp * 1000 + CLOCK_TOLERANCE_MS < now;
  if (!isForUs || typeof sub !== 'string' || isExpired) throw new SignInError('issuer_mismatch');
  return { id: sub, email: typeof email === 'string' ? email : undefined };
}

function decodeClaims(idToken: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString('utf8'));
  } catch {
    return {};
  }
}
