import { isCausewayError, type LocalCode } from '../../error.ts';
import type { FlowCode } from '../../flows/flow.ts';
import type { ErrorCode } from '../../wire.ts';

export type ErrorDescription = { title: string; advice: string; needsSignIn: boolean };

/**
 * Error codes that the components do not expect, so `MESSAGES` has no text for them. If such a code occurs, the
 * components show the error's own message. For `validation_failed`, they show the invalid fields instead.
 */
type Unexpected =
  | 'malformed_request'
  | 'forged_form'
  | 'recent_sign_in_required'
  | 'local_only'
  | 'method_not_allowed'
  | 'idempotency_in_progress'
  | 'idempotency_key_reused'
  | 'events_expired'
  | 'webhook_endpoint_limit_reached'
  | 'secret_rotation_in_progress'
  | 'endpoint_disabled'
  | 'webhook_url_refused'
  | 'payload_too_large'
  | 'uri_too_long'
  | 'unsupported_media_type'
  | 'passkey_refused'
  | 'validation_failed'
  | 'offer_type_mismatch'
  | 'asset_not_accepted'
  | 'permit_not_supported'
  | 'aborted';
/** Codes for failures in the page itself. */
type PageCode = 'load_failed' | 'purchase_elsewhere' | 'purchase_closed';
type Known = Exclude<ErrorCode | FlowCode, Unexpected> | LocalCode | PageCode;

const RETRY_LATER = 'Try again in a few minutes.';
const NEW_APPROVAL = 'Start again. Your wallet will ask for a new approval.';

const MESSAGES = {
  network_error: ["We can't connect right now", 'Check your connection and try again.'],
  load_failed: ["This part of the page didn't load", 'Try again, or reload the page.'],
  purchase_elsewhere: [
    'A purchase is still open',
    'Finish or decline it in your wallet, your other tab or the other offer, or reload this page.',
  ],
  purchase_closed: [
    'This purchase is no longer open',
    'It was finished or discarded in another tab. Check your investments before you buy again.',
  ],
  timeout: ['This is taking too long', RETRY_LATER],
  unexpected_reply: ['We got an unexpected response', RETRY_LATER],
  unauthorized: ["You're signed out", 'Sign in to continue.'],
  not_signed_in: ["You're signed out", 'Sign in to continue.'],
  insufficient_scope: ["This app doesn't have permission", 'Sign in again and allow the access it needs.'],
  user_token_required: ["You're signed out", 'Sign in to continue.'],
  requirements_not_met: ["You haven't met all requirements", 'Finish the checklist and try again.'],
  wallet_sanctioned: ["This wallet can't be used", 'Choose another wallet or contact support.'],
  not_found: ['Not found', 'It may have been removed. Go back and choose again.'],
  max_wallets_reached: ["You've reached the wallet limit for this option", 'Remove a wallet first.'],
  offer_ended: ['This offer has ended', ''],
  offer_not_started: ["This offer hasn't started yet", 'Come back when it opens.'],
  wallet_not_proven: ['This wallet is not connected', 'Connect it and sign the message.'],
  wallet_restricted: ["This wallet can't be used", 'Choose another wallet or contact support.'],
  allow_list_external: ['The issuer approves wallets', 'Ask the issuer to add your wallet, then try again.'],
  account_restricted: ['Your account is restricted', 'Contact support to continue.'],
  sold_out: ['Not enough left', 'Choose a smaller amount or another option.'],
  too_many_prepared: ['Too many unfinished investments', 'Wait until one completes, then try again.'],
  wallet_already_bound: ['This wallet belongs to another account', 'Choose another wallet.'],
  approval_already_used: [
    'This approval was already used',
    'Your purchase may be complete. Check your investments before you start again.',
  ],
  document_completed: ["You've already signed this form", ''],
  acknowledgement_outdated: ['This document has changed', 'Read the new version, then confirm again.'],
  kyc_in_review: ["We're reviewing your identity", "We'll update this page when the result is in."],
  kyc_final_rejection: [
    "We couldn't verify your identity",
    'This decision is final. Contact support if you disagree.',
  ],
  order_outstanding: ['You have an open order', 'Wait until it expires, then try again.'],
  fee_changed: ['The fee has changed', 'Nothing was sent. Try again later or contact support.'],
  market_closed: ['The market is closed', 'Try again when it opens.'],
  market_paused: ['The market is paused', 'Try again later.'],
  asset_paused: ['Trading in this asset is paused', 'Try again later.'],
  side_not_allowed: ["Buying isn't available right now", 'Try again in the next trading session.'],
  limit_reached: ['This order is too large right now', 'Choose a smaller amount or try again later.'],
  challenge_invalid: [
    "We couldn't verify the signature",
    'Select the right account in your wallet, then sign again.',
  ],
  chain_not_supported: ["This network isn't available for this offer", 'Choose another network.'],
  contract_not_found: ["This offer's contract isn't available", 'Please contact support.'],
  symbol_not_found: ["This asset isn't traded", 'Please choose another offer.'],
  approval_invalid: ["The approval doesn't match this purchase", NEW_APPROVAL],
  insufficient_allowance: [
    'The approved amount is too small',
    'Start again and approve the full amount in your wallet.',
  ],
  insufficient_balance: ['Insufficient balance', 'Choose a smaller amount or add funds.'],
  contract_reverted: [
    'The contract would reject this transaction',
    'Nothing was sent. Try again or choose another amount.',
  ],
  tax_form_not_applicable: [
    'You need a different tax form',
    'As a US person you need a W-9. Please contact support.',
  ],
  rate_limited: ['Too many requests', RETRY_LATER],
  internal_error: ['Something went wrong on our side', 'Please try again or contact support.'],
  upstream_error: ["One of our partners isn't working", RETRY_LATER],
  upstream_unavailable: ["We can't reach one of our partners", RETRY_LATER],
  unavailable: ['We are temporarily unavailable', RETRY_LATER],
  user_rejected: ['You declined the request in your wallet', 'Nothing was sent. You can try again.'],
  wallet_error: ["Your wallet couldn't do that", 'Unlock it, check its network and try again.'],
  wallet_changed: ['Your wallet switched accounts', 'Select the one you started with.'],
  wrong_chain: ['Your wallet is on another network', 'Switch networks and try again.'],
  transaction_reverted: ['The transaction failed', 'You only paid the network fee. You can try again.'],
  transaction_replaced: [
    'You replaced the transaction in your wallet',
    'Nothing was bought. You can try again.',
  ],
  transaction_not_found: ["The network can't find the transaction", 'Start again.'],
  confirmation_timeout: [
    'The network is slow to confirm',
    'It may still go through. Check your wallet before you send another one.',
  ],
  approval_failed: ['The approval failed', NEW_APPROVAL],
  approval_not_found: ["There's no open approval", 'Your wallet has nothing to revoke.'],
  participation_outstanding: [
    'Your earlier purchase from this wallet is still being settled',
    'Wait until it completes, then try again.',
  ],
  swap_stopped: ['The fund has paused swaps', 'Try again later.'],
  wallet_not_authorized: ["Your wallet isn't allowed yet", 'Allow it first, then swap.'],
  supply_short: ["The fund can't take the full amount right now", 'Choose a smaller amount.'],
  price_moved: ['The price moved too much', 'Nothing was sent. Check the new price and try again.'],
  quote_expired: [
    'The order expired before it was sent',
    'Nothing was bought. Try again and confirm in time.',
  ],
  contract_not_trusted: [
    "This purchase names a contract we don't know",
    "For your safety, we didn't open your wallet. Please contact support.",
  ],
  token_mismatch: [
    'This token is not what the offer says',
    "For your safety, we didn't open your wallet. Please contact support.",
  ],
  message_refused: [
    "The message to sign isn't the expected one",
    "For your safety, we didn't open your wallet. Please contact support.",
  ],
  calldata_refused: [
    "The order didn't match your request",
    "For your safety, we didn't send it. Please contact support.",
  ],
  invalid_input: ["This purchase isn't possible", 'Check the amount and the wallet, then try again.'],
  wallet_not_bound: [
    "This wallet isn't registered for this option",
    'Register it in the checklist, or choose a registered one.',
  ],
  outcome_unknown: [
    "The result of the transaction isn't clear",
    'Check your wallet before you send another one.',
  ],
} as const satisfies Record<Known, readonly [title: string, advice: string]>;

const FALLBACKS = {
  invalid: 'Some details are missing or invalid',
  checkEntries: 'Check your entries.',
  failed: "That didn't work",
  tryAgain: 'Please try again.',
} as const;

/** Every message in the tables above. */
export type ErrorMessage = (typeof MESSAGES)[Known][0 | 1] | (typeof FALLBACKS)[keyof typeof FALLBACKS];

const SIGN_IN_CODES = new Set(['unauthorized', 'not_signed_in', 'user_token_required', 'insufficient_scope']);

export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

/** Returns the text that explains what happened, or undefined for an unknown code. */
export function titleOf(code: string): ErrorMessage | undefined {
  return Object.hasOwn(MESSAGES, code) ? MESSAGES[code as Known][0] : undefined;
}

/** Describes what happened and what to do next. For unknown codes, falls back to the error's own message. */
export function describeError(error: unknown, t: (message: ErrorMessage) => string): ErrorDescription {
  const code = codeOf(error);
  const needsSignIn = SIGN_IN_CODES.has(code);
  if (Object.hasOwn(MESSAGES, code)) {
    const [title, advice] = MESSAGES[code as Known];
    return { title: t(title), advice: t(advice), needsSignIn };
  }
  if (code === 'validation_failed')
    return {
      ...{ title: t(FALLBACKS.invalid), needsSignIn },
      advice: describeFields(error) || t(FALLBACKS.checkEntries),
    };
  const message = error instanceof Error ? error.message : '';
  return { title: t(FALLBACKS.failed), advice: message || t(FALLBACKS.tryAgain), needsSignIn };
}

/** Returns the support reference: the `eventId` of a service error, or of the service error that stopped a flow. */
export function referenceOf(error: unknown): string | undefined {
  if (isCausewayError(error)) return error.eventId;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? undefined : referenceOf(cause);
}

function describeFields(error: unknown): string {
  const inner = isCausewayError(error) ? error : error instanceof Error ? error.cause : undefined;
  const fields = isCausewayError(inner) ? Object.entries(inner.errors) : [];
  return fields.map(([field, problem]) => `${field}: ${[problem].flat().join(', ')}`).join('. ');
}
