import { isCausewayError, type LocalCode } from '../../error.ts';
import type { FlowCode } from '../../flows/flow.ts';
import type { ErrorCode } from '../../wire.ts';

export type Advice = { title: string; advice: string; signIn: boolean };

/** What a component never causes; told by the service's own message. */
type Unexpected =
  | 'malformed_request'
  | 'forged_form'
  | 'method_not_allowed'
  | 'idempotency_in_progress'
  | 'idempotency_key_reused'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'passkey_refused'
  | 'validation_failed'
  | 'offer_type_mismatch';
type Known = Exclude<ErrorCode, Unexpected> | FlowCode | LocalCode;

/** Codes of the service and of the flows: what happened, and what to do next. */
const WORDS: Record<Known, readonly [title: string, advice: string]> = {
  network_error: ['The service could not be reached', 'Check your connection, then try again.'],
  timeout: ['The service did not answer in time', 'Please try again in a moment.'],
  unexpected_reply: ['Something unexpected came back', 'Please try again in a moment.'],
  unauthorized: ['You are signed out', 'Sign in to go on.'],
  not_signed_in: ['You are signed out', 'Sign in to go on.'],
  insufficient_scope: ['This app may not do that', 'Sign in again and allow what it asks for.'],
  user_token_required: ['You are not signed in', 'Sign in to go on.'],
  requirements_not_met: ['Some requirements are open', 'Finish the checklist, then try again.'],
  wallet_sanctioned: ['This wallet cannot be used', 'Choose another wallet, or write to support.'],
  not_found: ['This could not be found', 'It may have been removed. Go back and choose again.'],
  max_wallets_reached: ['You have bound as many wallets as this option allows', 'Remove one of them first.'],
  offer_ended: ['This offer has ended', 'Nothing was taken from your wallet.'],
  offer_not_started: ['This offer has not started yet', 'Come back when it opens.'],
  wallet_already_bound: ['Somebody else has bound this wallet', 'Choose another wallet.'],
  approval_already_used: [
    'This approval was used before',
    'Start again: your wallet is asked for a new approval.',
  ],
  document_completed: ['Your form is signed already', 'There is nothing more to do here.'],
  kyc_in_review: ['Your identity is being reviewed', 'Wait for the result; this page updates by itself.'],
  kyc_final_rejection: [
    'Your identity could not be verified',
    'This decision is final. Write to support if you disagree.',
  ],
  order_outstanding: ['An order of yours is still open', 'Wait until it has expired, then try again.'],
  market_closed: ['The market is closed', 'Try again when it has opened.'],
  market_paused: ['The market is paused', 'Try again in a little while.'],
  asset_paused: ['Trading of this asset is paused', 'Try again in a little while.'],
  side_not_allowed: ['Buying is not possible now', 'Try again in another session of the market.'],
  limit_reached: ['The market takes no orders of this size now', 'Try a smaller amount, or later.'],
  challenge_invalid: [
    'The signature was not accepted',
    'Check that the right account is selected in your wallet, then sign again.',
  ],
  chain_not_supported: ['This network is not available for this offer', 'Choose another network.'],
  approval_invalid: [
    'The approval does not fit this purchase',
    'Start again: your wallet is asked for a new approval.',
  ],
  insufficient_allowance: [
    'The approved amount is too small',
    'Start again and approve the whole amount in your wallet.',
  ],
  insufficient_balance: ['Your wallet does not hold enough', 'Choose a smaller amount or add funds.'],
  contract_reverted: [
    'The contract would refuse this',
    'Nothing was sent. Try again, or choose another amount.',
  ],
  contract_not_found: ['There is no contract to talk to', 'Please write to support.'],
  tax_form_not_applicable: [
    'You need another tax form',
    'As a US person you need a W-9. Please write to support.',
  ],
  symbol_not_found: ['This asset is not traded', 'Choose another one.'],
  rate_limited: ['That was a little too fast', 'Wait a minute, then try again.'],
  internal_error: [
    'Something went wrong on our side',
    'Please try again. If it happens again, write to support with the reference.',
  ],
  upstream_error: ['A partner of ours is not working properly', 'Please try again in a few minutes.'],
  upstream_unavailable: ['A partner of ours cannot be reached', 'Please try again in a few minutes.'],
  user_rejected: ['You turned the request down in your wallet', 'Nothing was sent. You can try again.'],
  wallet_error: ['Your wallet could not do that', 'Unlock it, check its network, then try again.'],
  wallet_changed: [
    'Another account is selected in your wallet',
    'Select the account that you began with, then go on.',
  ],
  wrong_chain: [
    'Your wallet is on another network',
    'Switch it to the network of this offer, then try again.',
  ],
  transaction_reverted: ['The transaction failed', 'Only its network fee was spent. You can try again.'],
  transaction_replaced: [
    'You replaced the transaction in your wallet',
    'Nothing was bought. You can try again.',
  ],
  transaction_not_found: [
    'The network does not know the transaction',
    'Start again: your wallet is asked for a new one.',
  ],
  confirmation_timeout: [
    'The network is slow to confirm',
    'The transaction may still go through. Check your wallet before you send another one.',
  ],
  approval_failed: ['The approval did not work', 'Start again: your wallet is asked for a new approval.'],
  permit_not_supported: ['This token takes no signed permits', 'Start again with an approval.'],
  participation_outstanding: [
    'An earlier purchase from this wallet is still being settled',
    'Wait until it is completed, then try again.',
  ],
  asset_not_accepted: ['This offer does not take that asset here', 'Choose another asset or network.'],
  swap_stopped: ['The fund has stopped its swaps', 'Try again later.'],
  wallet_not_authorized: ['Your wallet is not allowed yet', 'Allow it first, then swap.'],
  supply_short: ['The fund cannot take the whole amount now', 'Choose a smaller amount.'],
  price_moved: ['The price has moved too far', 'Nothing was sent. Look at the new price and try again.'],
  quote_expired: [
    'The order expired before it was sent',
    'Nothing was bought. Try again and confirm it in time.',
  ],
  calldata_refused: [
    'The order was not what you asked for',
    'It was not sent, for your safety. Please write to support with the reference.',
  ],
  invalid_input: ['This cannot be bought like that', 'Check the amount and the wallet, then try again.'],
  wallet_not_bound: [
    'This wallet is not registered for this option',
    'Register it in the checklist, or choose one that is.',
  ],
  outcome_unknown: [
    'The transaction went through, but its result is unclear',
    'Look at your balance before you send another one.',
  ],
  aborted: ['Stopped', 'Nothing more was sent. You can try again.'],
};

const SIGN_IN = new Set(['unauthorized', 'not_signed_in', 'user_token_required', 'insufficient_scope']);

export function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}

export function adviseOn(error: unknown): Advice {
  const code = codeOf(error);
  const words = Object.hasOwn(WORDS, code) ? WORDS[code as Known] : undefined;
  const signIn = SIGN_IN.has(code);
  if (words !== undefined) return { title: words[0], advice: words[1], signIn };
  if (code === 'validation_failed')
    return { title: 'Something is missing or wrong', advice: fieldsOf(error), signIn };
  const message = error instanceof Error ? error.message : '';
  return { title: 'That did not work', advice: message || 'Please try again.', signIn };
}

/** The event id, also of what a flow was stopped by. */
export function referenceOf(error: unknown): string | undefined {
  if (isCausewayError(error)) return error.eventId;
  const cause = error instanceof Error ? error.cause : undefined;
  return cause === undefined ? undefined : referenceOf(cause);
}

function fieldsOf(error: unknown): string {
  const inner = isCausewayError(error) ? error : error instanceof Error ? error.cause : undefined;
  const fields = isCausewayError(inner) ? Object.entries(inner.errors) : [];
  return (
    fields.map(([field, why]) => `${field}: ${[why].flat().join(', ')}`).join('. ') || 'Check what you typed.'
  );
}
