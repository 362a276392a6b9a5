import { createHmac, timingSafeEqual } from 'node:crypto';

/** The time step and the number of digits that every authenticator app supports (RFC 6238). */
const STEP_MS = 30_000;
const DIGITS = 6;
/** Adjacent time steps are accepted too, because phone clocks drift (RFC 6238 §5.2). */
const ACCEPTED_OFFSETS = [0, -1, 1] as const;
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

export const TOTP_SECRET_BYTES = 20;

export function totpCode(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 15;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 10 ** DIGITS).padStart(DIGITS, '0');
}

export function totpStep(now: number): number {
  return Math.floor(now / STEP_MS);
}

/** Returns the time step that the code belongs to, or null. The caller accepts each step only once. */
export function findTotpStep(secret: Buffer, code: string, now: number): number | null {
  if (code.length !== DIGITS) return null;
  const presented = Buffer.from(code);
  const steps = ACCEPTED_OFFSETS.map((offset) => totpStep(now) + offset);
  const matching = steps.filter((step) => {
    const expected = Buffer.from(totpCode(secret, step));
    return expected.length === presented.length && timingSafeEqual(expected, presented);
  });
  return matching[0] ?? null;
}

/** Encodes a secret in the form that authenticator apps expect (RFC 4648 §6, without padding). */
export function toBase32(bytes: Buffer): string {
  let bits = '';
  for (const byte of bytes) bits += byte.toString(2).padStart(8, '0');
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => BASE32[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('');
}

/** Returns a link that contains the secret. An authenticator app opens the link directly or scans it as a QR code. */
export function totpUri(email: string, secret: string): string {
  const label = `${encodeURIComponent('Causeway')}:${encodeURIComponent(email)}`;
  return `otpauth://totp/${label}?${new URLSearchParams({ secret, issuer: 'Causeway' })}`;
}
