import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isSecret } from '../http.ts';

export type Credentials = { appToken: string; secret: string };

export type AccessError = { status: number; description: string; errorCode?: number; errorName?: string };

const MAX_CLOCK_SKEW_SECONDS = 60;

/**
 * Returns the provider's error for a request that is not signed correctly, or null. Compares timestamps with the real
 * clock.
 */
export function findAccessError(
  { appToken, secret }: Credentials,
  headers: IncomingHttpHeaders,
  method: string,
  path: string,
  body: string,
): AccessError | null {
  const token = headers['x-app-token'];
  const seconds = headers['x-app-access-ts'];
  const signature = headers['x-app-access-sig'];
  if (token === undefined || seconds === undefined || signature === undefined)
    return accessError(4006, 'app-token-headers-missing', 'Required headers are missing');
  if (typeof token !== 'string' || !/^(sbx|prd):[^.]+\.[^.]+$/.test(token))
    return accessError(4000, 'app-token-format', 'Invalid app token format');
  const [publicPart, privatePart] = token.split('.');
  const [expectedPublic, expectedPrivate] = appToken.split('.');
  if (publicPart !== expectedPublic) return accessError(4001, 'app-token-not-found', 'App token not found');
  if (privatePart !== expectedPrivate)
    return accessError(4002, 'app-token-private-part-mismatch', 'Private part mismatch');
  if (typeof seconds !== 'string' || !/^\d{1,12}$/.test(seconds))
    return accessError(4005, 'app-token-bad-value', 'Bad timestamp');
  if (Math.abs(Date.now() / 1000 - Number(seconds)) > MAX_CLOCK_SKEW_SECONDS)
    return accessError(4004, 'app-token-request-expired', 'Request expired');
  const expected = createHmac('sha256', secret).update(`${seconds}${method}${path}${body}`).digest('hex');
  if (!isSecret(signature, expected))
    return accessError(4003, 'app-token-signature mismatch', 'Request signature mismatch');
  return null;
}

function accessError(errorCode: number, errorName: string, description: string): AccessError {
  return { status: 401, description, errorCode, errorName };
}
