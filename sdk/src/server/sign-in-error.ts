/**
 * Why a sign-in failed:
 * - `access_denied`: the user declined.
 * - `state_mismatch`: this browser did not start the sign-in, or has already finished it.
 * - `expired`: the sign-in took too long.
 * - `issuer_mismatch`: the response came from a server other than `issuer` (default: `baseUrl`), or the response's ID
 *   token is invalid.
 * - `not_signed_in`: there is no session, or it has expired.
 * - `session_too_large`: the session does not fit into a cookie.
 * - `refused`: the service rejected the request; see `cause`.
 * - `unavailable`: the service did not respond, returned a server error or rate limited the request.
 * - `login_required`, `consent_required`, `interaction_required`: OpenID Connect codes, returned for `prompt: 'none'`.
 */
export type SignInErrorCode =
  | 'access_denied'
  | 'login_required'
  | 'consent_required'
  | 'interaction_required'
  | 'state_mismatch'
  | 'expired'
  | 'issuer_mismatch'
  | 'not_signed_in'
  | 'session_too_large'
  | 'refused'
  | 'unavailable';

const MESSAGES: Record<SignInErrorCode, string> = {
  access_denied: 'The user declined the connection.',
  login_required: 'The user must sign in. Start a sign-in without prompt=none.',
  consent_required: 'The user must consent. Start a sign-in without prompt=none.',
  interaction_required: 'The user must complete a step. Start a sign-in without prompt=none.',
  state_mismatch: 'This browser did not start this sign-in, or has already finished it. Start a new sign-in.',
  expired: 'The sign-in took too long. Start a new one.',
  issuer_mismatch:
    "The response is from another issuer. Check baseUrl, or set issuer to the service's issuer.",
  not_signed_in: 'No user is signed in.',
  session_too_large: 'The session does not fit into a cookie. Pass a store to keep sessions on the server.',
  refused:
    'The service rejected the sign-in. Check clientId, clientSecret and redirectUri; the cause has details.',
  unavailable: 'The service is unavailable, or a rate limit was reached. Check baseUrl, or try again later.',
};

/**
 * A failed sign-in or session renewal. The error contains no authorization code, token or secret. `cause` is the
 * service's error.
 *
 * @example
 * ```ts
 * import { SignInError } from '@causeway/sdk/server';
 *
 * const error = new SignInError('access_denied');
 * console.log(error.code, error.message);
 * ```
 */
export class SignInError extends Error {
  override readonly name = 'SignInError';
  readonly code: SignInErrorCode;

  constructor(code: SignInErrorCode, cause?: unknown) {
    super(MESSAGES[code], cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

/**
 * Returns true for a `SignInError`, optionally with a given code. Unlike `instanceof`, this check also works across
 * copies of this package.
 *
 * @example
 * ```ts
 * import { isSignInError, type Session, type SignIn } from '@causeway/sdk/server';
 *
 * export async function tokenOrNull(signIn: SignIn, session: Session): Promise<string | null> {
 *   try {
 *     return await signIn.accessToken(session);
 *   } catch (error) {
 *     if (isSignInError(error, 'not_signed_in')) return null;
 *     throw error;
 *   }
 * }
 * ```
 */
export function isSignInError(error: unknown, code?: SignInErrorCode): error is SignInError {
  const is = error instanceof Error && error.name === 'SignInError';
  return is && (code === undefined || (error as SignInError).code === code);
}

/** Maps the `error` parameter of a callback to a known code, so that nobody can inject text into the page. */
export function toSignInErrorCode(error: string): SignInErrorCode {
  switch (error) {
    case 'access_denied':
    case 'login_required':
    case 'consent_required':
    case 'interaction_required':
      return error;
    case 'temporarily_unavailable':
      return 'unavailable';
    default:
      return 'refused';
  }
}
