/**
 * Why a webhook was rejected:
 * - `headers_missing`: `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing or malformed.
 * - `signature_invalid`: no signature matches. Usual causes: the body was parsed before it was verified, or the secret
 *   is outdated or belongs to another endpoint.
 * - `timestamp_expired`: the webhook was sent too long ago, or a clock is wrong.
 * - `replayed`: `isKnown` returned true for the id of the webhook.
 */
export type WebhookErrorCode = 'headers_missing' | 'signature_invalid' | 'timestamp_expired' | 'replayed';

const MESSAGES: Record<WebhookErrorCode, string> = {
  headers_missing: 'A webhook header is missing or malformed.',
  signature_invalid:
    "No signature matches. Pass the body exactly as received, and this endpoint's current secret.",
  timestamp_expired: "The webhook was sent too long ago, or this server's clock is wrong.",
  replayed: 'This event was already handled.',
};

/**
 * The error that `verifyWebhook` throws if it rejects a webhook. The error contains neither the body nor a secret.
 *
 * @example
 * ```ts
 * import { WebhookError } from '@causeway/sdk/server';
 *
 * const error = new WebhookError('signature_invalid');
 * console.log(error.code, error.message);
 * ```
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError';
  readonly code: WebhookErrorCode;

  constructor(code: WebhookErrorCode) {
    super(MESSAGES[code]);
    this.code = code;
  }
}

/**
 * Returns true for a `WebhookError`, optionally with a given code. Unlike `instanceof`, this check also works across
 * copies of this package.
 *
 * @example
 * ```ts
 * import { isWebhookError, WebhookError } from '@causeway/sdk/server';
 *
 * console.log(isWebhookError(new WebhookError('replayed'), 'replayed')); // true
 * ```
 */
export function isWebhookError(error: unknown, code?: WebhookErrorCode): error is WebhookError {
  const is = error instanceof Error && error.name === 'WebhookError';
  return is && (code === undefined || (error as WebhookError).code === code);
}
