import { createHmac, timingSafeEqual } from 'node:crypto';

/** The signature of a request: seconds, method, path with query as on the wire, and body, without separators. */
export function signRequest(
  secret: string,
  seconds: number,
  method: string,
  path: string,
  body = '',
): string {
  return createHmac('sha256', secret).update(`${seconds}${method}${path}${body}`).digest('hex');
}

/** SHA-1 exists too; the sender must not get to choose it. */
const ALGORITHMS = new Map([
  ['HMAC_SHA256_HEX', 'sha256'],
  ['HMAC_SHA512_HEX', 'sha512'],
]);

/** Whether one of our secrets signed exactly these bytes, by an algorithm that we accept. */
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
