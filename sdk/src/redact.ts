const SECRET_FIELDS =
  /^(token|access_token|refresh_token|id_token|client_secret|code|code_verifier|signature|password)$/i;
/** Endpoints with personal data in their bodies. */
const PERSONAL_PATHS = /^\/v1\/(pii|documents)(\/|\?|$)/;
/** Fields that stay readable even in personal data. */
const PLAIN_FIELDS = /^(object|kind|form_type|status)$/;
const REDACTED = '[redacted]';

/**
 * Returns a copy of a body without secrets, signatures or personal data. The copy is safe to display or log.
 *
 * @example
 * ```ts
 * import { redact } from '@causeway/sdk';
 *
 * console.log(redact('/v1/kyc-token', { object: 'kyc_token', token: 'abc' })); // token: "[redacted]"
 * ```
 */
export function redact(path: string, body: unknown): unknown {
  return redactValue(body, PERSONAL_PATHS.test(path));
}

/** Redacts query values that contain an email address. */
export function redactPath(path: string): string {
  return path.replace(/=[^=&]*(?:@|%40)[^&]*/gi, `=${encodeURIComponent(REDACTED)}`);
}

function redactValue(value: unknown, isPersonal: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => redactValue(item, isPersonal));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [
        key,
        SECRET_FIELDS.test(key) ? REDACTED : redactValue(field, isPersonal && !PLAIN_FIELDS.test(key)),
      ]),
    );
  return isPersonal && value !== null && value !== undefined ? REDACTED : value;
}
