const SECRET =
  /^(token|access_token|refresh_token|id_token|client_secret|code|code_verifier|signature|password)$/i;
/** Everything under these is about a person. */
const PERSONAL = /^\/v1\/(pii|documents)(\/|$)/;
const HIDDEN = '[redacted]';

/**
 * A copy of a body that may be shown or logged: no secret, no signature, nothing about a person.
 *
 * @example
 * ```ts
 * import { redact } from '@causeway/sdk';
 *
 * console.log(redact('/v1/kyc-token', { object: 'kyc_token', token: 'abc' })); // token: "[redacted]"
 * ```
 */
export function redact(path: string, body: unknown): unknown {
  return hide(body, PERSONAL.test(path));
}

/** A path whose query shows no e-mail address. */
export function redactPath(path: string): string {
  return path.replace(/=[^=&]*(?:@|%40)[^&]*/gi, `=${encodeURIComponent(HIDDEN)}`);
}

function hide(value: unknown, all: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => hide(one, all));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, member]) => {
        const isPlain = key === 'object' || key === 'kind' || key === 'form_type' || key === 'status';
        return [key, SECRET.test(key) ? HIDDEN : hide(member, all && !isPlain)];
      }),
    );
  return all && value !== null && value !== undefined ? HIDDEN : value;
}
