/** All error codes of the API, each with its HTTP status and default message. */
export const ERRORS = {
  malformed_request: [400, 'The request could not be parsed.'],
  unauthorized: [401, 'The access token is missing, unknown, expired or revoked.'],
  insufficient_scope: [403, 'The access token lacks a scope that this endpoint requires.'],
  user_token_required: [403, 'This endpoint requires the token of a signed-in user.'],
  requirements_not_met: [403, 'The user has not completed all requirements of this offer option.'],
  wallet_not_proven: [403, 'The user has not proven ownership of this wallet.'],
  wallet_restricted: [403, 'This wallet cannot be connected to this account.'],
  account_restricted: [403, 'This account is restricted. Contact support.'],
  wallet_sanctioned: [403, 'This wallet cannot be used.'],
  forged_form: [
    403,
    'This form has expired or was opened elsewhere. Go back, reload the page and try again.',
  ],
  recent_sign_in_required: [403, 'Sign in again to continue.'],
  local_only: [403, 'The sandbox controls accept requests only from this machine.'],
  not_found: [404, 'Not found.'],
  method_not_allowed: [405, 'This endpoint does not support this method.'],
  max_wallets_reached: [409, 'The maximum number of wallets for this option has been reached.'],
  offer_ended: [409, 'The offer has ended.'],
  offer_not_started: [409, 'The offer has not started.'],
  wallet_already_bound: [409, 'The wallet is in use by another user.'],
  sold_out: [409, 'The remaining supply does not cover this amount.'],
  too_many_prepared: [
    409,
    'The user has too many participations that are waiting for an approval transaction.',
  ],
  approval_already_used: [409, 'Another participation already uses this approval transaction.'],
  document_completed: [409, 'The user has already signed this form, and it is still valid.'],
  acknowledgement_outdated: [
    409,
    'A different version of this document applies now. Show that version to the user and try again.',
  ],
  kyc_in_review: [409, 'The identity provider is still reviewing this user.'],
  kyc_final_rejection: [409, 'The identity provider has permanently rejected this user.'],
  order_outstanding: [409, 'This wallet already has an open order for this asset.'],
  fee_changed: [409, "The contract's fee is higher than the offer's."],
  market_closed: [409, 'The market is closed.'],
  market_paused: [409, 'The market is paused.'],
  asset_paused: [409, 'Trading in this asset is paused.'],
  side_not_allowed: [409, 'The current trading session does not allow this side.'],
  limit_reached: [409, "The order exceeds the venue's current limit."],
  webhook_endpoint_limit_reached: [409, 'The maximum number of webhook endpoints has been reached.'],
  secret_rotation_in_progress: [
    409,
    'The previous secret is still valid. Wait until it expires, or set "grace_hours" to 0.',
  ],
  endpoint_disabled: [409, 'The webhook endpoint is disabled. Enable it first.'],
  idempotency_in_progress: [409, 'A request with this idempotency key is still in progress.'],
  events_expired: [410, 'The events that follow the given event are no longer available.'],
  payload_too_large: [413, 'The request is too large.'],
  uri_too_long: [414, 'The URL is too long.'],
  unsupported_media_type: [415, 'This endpoint does not support this content type.'],
  validation_failed: [422, 'The request has invalid fields.'],
  idempotency_key_reused: [422, 'This idempotency key was already used with a different request.'],
  webhook_url_refused: [422, 'Webhooks cannot be sent to this URL.'],
  passkey_refused: [422, 'The passkey could not be verified.'],
  challenge_invalid: [
    422,
    'No valid challenge exists for this wallet and chain, or the signature is invalid.',
  ],
  chain_not_supported: [422, 'This chain is not supported.'],
  allow_list_external: [
    422,
    'The issuer decides which wallets may hold this asset. Ask the issuer to add this wallet.',
  ],
  offer_type_mismatch: [422, 'This endpoint does not support offers of this type.'],
  approval_invalid: [422, 'The transaction is not a valid approval for this participation.'],
  insufficient_allowance: [422, 'Insufficient allowance.'],
  insufficient_balance: [422, 'Insufficient balance.'],
  contract_not_found: [422, 'No contract exists at this address.'],
  contract_reverted: [422, 'The contract call reverted.'],
  tax_form_not_applicable: [422, 'This form does not apply to the user.'],
  symbol_not_found: [422, 'Unknown symbol.'],
  rate_limited: [429, 'Too many requests.'],
  internal_error: [500, 'Internal error.'],
  upstream_error: [502, 'An external service returned an invalid response.'],
  upstream_unavailable: [503, 'An external service is unavailable. Try again later.'],
  unavailable: [503, 'The service is temporarily unavailable. Try again later.'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof ERRORS;

/** Details for the caller: a list of messages per field, or the members that are documented for the error code. */
export type ErrorDetails = Record<string, unknown>;

type Options = { message?: string; headers?: Record<string, string>; cause?: unknown };

/**
 * An error that is sent to the API caller as it is, with its code and message. `toApiError` replaces all other errors,
 * usually with `internal_error`.
 */
export class ApiError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  readonly headers: Record<string, string>;

  constructor(code: ErrorCode, details: ErrorDetails = {}, options: Options = {}) {
    super(options.message ?? ERRORS[code][1], options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'ApiError';
    this.code = code;
    this.details = details;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return ERRORS[this.code][0];
  }
}

/** Returns a `validation_failed` error for one field. */
export function invalidField(field: string, message: string): ApiError {
  return new ApiError('validation_failed', { [field]: [message] });
}

/** Thrown for invalid arguments. The message says what is wrong and what to do. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}
