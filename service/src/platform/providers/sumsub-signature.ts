import { createHmac, timingSafeEqual } from 'node:crypto';

/**
 * Signs a request. The signed text consists of the timestamp, the method, the path with the query as sent,
 * and the body, without separators.
 */
export function signRequest(
  secret: string,
  seconds: number,
  method: string,
  path: string,
  body = '',
): string {
  return createHmac('sha256', secret).update(`${seconds}${method}${path}${body}`).digest('hex');
}

/** The accepted algorithms. The provider also offers SHA-1, but a sender must not be able to choose it. */
const ALGORITHMS = new Map([
  ['HMAC_SHA256_HEX', 'sha256'],
  ['HMAC_SHA512_HEX', 'sha512'],
]);

/** Returns whether `digest` is the HMAC of the body under one of the secrets, with an accepted algorithm. */
export function verifyDigest(
  secrets: readonly string[],
  algorithm: string | undefined,
  digest: string | undefined,
  body: Buffer,
): boolean {
  const name = ALGORITHMS.get(algorithm ?? 'HMAC_SHA256_HEX');
  if (name === undefined || digest === undefined || !/^[0-9a-f]+$/i.test(digest)) return false;
  const given = Buffer.from(digest, 'hex');
  return secrets.some((secret) => {
    const expected = createHmac(name, secret).update(body).digest();
    return expected.length === given.length && timingSafeEqual(expected, given);
  });
}
