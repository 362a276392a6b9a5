/** The one table of failures: every code the API can answer, its status and its default message. */
export const ERRORS = {
  malformed_request: [400, 'The request cannot be parsed.'],
  unauthorized: [401, 'The access token is missing, unknown, expired or revoked.'],
  insufficient_scope: [403, 'The access token lacks the scope this endpoint needs.'],
  user_token_required: [403, 'This endpoint needs a token of a signed-in user.'],
  requirements_not_met: [403, 'Not all requirements of the offer option are completed.'],
  wallet_sanctioned: [403, 'This wallet cannot be used.'],
  forged_form: [403, 'This form is too old or was not opened here. Go back, reload the page and try again.'],
  not_found: [404, 'There is nothing here, or nothing that you may see.'],
  method_not_allowed: [405, 'This method is not allowed here.'],
  max_wallets_reached: [409, 'The option already has as many wallets as it allows.'],
  offer_ended: [409, 'The offer has ended.'],
  offer_not_started: [409, 'The offer has not started.'],
  wallet_already_bound: [409, 'The wallet is bound to another user on this option.'],
  approval_already_used: [409, 'The approval transaction was used by another participation.'],
  document_completed: [409, 'The signed form is still valid.'],
  kyc_in_review: [409, 'The identity provider is reviewing this applicant.'],
  kyc_final_rejection: [409, 'The identity provider has rejected this applicant for good.'],
  order_outstanding: [409, 'A live order exists for this wallet and asset.'],
  market_closed: [409, 'The market is closed.'],
  market_paused: [409, 'The market is paused.'],
  asset_paused: [409, 'Trading of this asset is paused.'],
  side_not_allowed: [409, 'The current session does not allow this side.'],
  limit_reached: [409, 'The order exceeds what the venue accepts now.'],
  idempotency_in_progress: [409, 'The first request with this idempotency key is still running.'],
  payload_too_large: [413, 'The request is too large.'],
  unsupported_media_type: [415, 'The content type is not supported here.'],
  validation_failed: [422, 'The request has invalid fields.'],
  idempotency_key_reused: [422, 'The idempotency key was used with another request.'],
  passkey_refused: [422, 'The passkey was not accepted.'],
  challenge_invalid: [422, 'There is no valid challenge for this wallet and chain, or the signature fails.'],
  chain_not_supported: [422, 'The chain is not supported here.'],
  offer_type_mismatch: [422, 'This offer is of another type.'],
  approval_invalid: [422, 'The approval transaction does not approve what is needed.'],
  insufficient_allowance: [422, 'The allowance is too small.'],
  insufficient_balance: [422, 'The balance is too small.'],
  contract_not_found: [422, 'There is no contract at this address.'],
  contract_reverted: [422, 'The contract call reverted.'],
  tax_form_not_applicable: [422, 'This form does not apply to the user.'],
  symbol_not_found: [422, 'The symbol is unknown.'],
  rate_limited: [429, 'Too many requests.'],
  internal_error: [500, 'Something went wrong on our side.'],
  upstream_error: [502, 'A system we depend on gave a bad answer.'],
  upstream_unavailable: [503, 'A system we depend on does not answer.'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type ErrorCode = keyof typeof ERRORS;

/** Details for the caller: per field a list of messages, or what the code's documentation says. */
export type ErrorDetails = Record<string, unknown>;

type Options = { message?: string; headers?: Record<string, string>; cause?: unknown };

/** The only error that reaches a caller as it is; everything else is `internal_error`. */
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

/** `validation_failed` for one field. */
export function invalidField(field: string, message: string): ApiError {
  return new ApiError('validation_failed', { [field]: [message] });
}
