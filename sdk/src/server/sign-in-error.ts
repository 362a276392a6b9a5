/**
 * Why a sign-in came to nothing:
 * `access_denied` the user said no; `state_mismatch` this browser did not begin it, or has finished it already;
 * `expired` it took too long; `issuer_mismatch` another server answered; `not_signed_in` there is no session, or it has
 * ended; `session_too_large` it does not fit into a cookie; `refused` the service turned the request down (see `cause`);
 * `unavailable` it did not answer. Beside these, the codes of OpenID Connect that you can ask for: `login_required`,
 * `consent_required`, `interaction_required`.
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
  access_denied: 'The user did not allow the connection.',
  login_required: 'The user must sign in.',
  consent_required: 'The user must be asked first.',
  interaction_required: 'The user must do something first.',
  state_mismatch: 'This browser did not begin this sign-in, or has finished it already.',
  expired: 'The sign-in took too long.',
  issuer_mismatch: 'The answer is not of the service that was asked.',
  not_signed_in: 'Nobody is signed in.',
  session_too_large: 'The session does not fit into a cookie.',
  refused: 'The service refused the sign-in.',
  unavailable: 'The service did not answer.',
};

/**
 * A sign-in, or its renewal, that failed. Holds no code, token or secret; `cause` is the service's own error.
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
 * Also true for an error of another copy of this package.
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

/** The codes that an answer to the browser may carry; whatever else it says was not said by the service. */
export function codeOfAnswer(error: string): SignInErrorCode {
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
