import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

export type Credentials = { appToken: string; secret: string };

export type Refusal = { status: number; description: string; errorCode?: number; errorName?: string };

const WINDOW = 60;

/** What the provider says to a request that is not signed as it should be; null when it is. Its clock is the real one. */
export function refuseAccess(
  { appToken, secret }: Credentials,
  headers: IncomingHttpHeaders,
  method: string,
  path: string,
  body: string,
): Refusal | null {
  const token = headers['x-app-token'];
  const seconds = headers['x-app-access-ts'];
  const signature = headers['x-app-access-sig'];
  if (token === undefined || seconds === undefined || signature === undefined)
    return refusal(4006, 'app-token-headers-missing', 'Required headers are missing');
  if (typeof token !== 'string' || !/^(sbx|prd):[^.]+\.[^.]+$/.test(token))
    return refusal(4000, 'app-token-format', 'Invalid app token format');
  const [publicPart, privatePart] = token.split('.');
  const [ourPublic, ourPrivate] = appToken.split('.');
  if (publicPart !== ourPublic) return refusal(4001, 'app-token-not-found', 'App token not found');
  if (privatePart !== ourPrivate)
    return refusal(4002, 'app-token-private-part-mismatch', 'Private part mismatch');
  if (typeof seconds !== 'string' || !/^\d{1,12}$/.test(seconds))
    return refusal(4005, 'app-token-bad-value', 'Bad timestamp');
  if (Math.abs(Date.now() / 1000 - Number(seconds)) > WINDOW)
    return refusal(4004, 'app-token-request-expired', 'Request expired');
  const expected = createHmac('sha256', secret).update(`${seconds}${method}${path}${body}`).digest('hex');
  const given = Buffer.from(String(signature));
  if (given.length !== expected.length || !timingSafeEqual(given, Buffer.from(expected)))
    return refusal(4003, 'app-token-signature mismatch', 'Request signature mismatch');
  return null;
}

function refusal(errorCode: number, errorName: string, description: string): Refusal {
  return { status: 401, description, errorCode, errorName };
}
