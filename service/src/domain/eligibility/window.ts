import type { Clock } from '../../kernel/clock.ts';
import { ApiError } from '../../kernel/errors.ts';
import { decideWindow } from './decide.ts';
import type { Check } from './schema.ts';
import type { Situation } from './situation.ts';

type Window = Pick<Situation['offer'], 'opens' | 'ends'>;

/** Throws `offer_ended` or `offer_not_started` unless the offer is open. */
export function assertOpen(offer: Window, clock: Clock): void {
  const check = decideWindow({ offer, now: clock.now() });
  if (check.status !== 'passed') throw refusal(check);
}

/**
 * Throws `offer_ended` if the offer has ended. An offer that has not started yet is accepted, because users can take
 * some steps in advance, such as binding a wallet.
 */
export function assertNotEnded(offer: Window, clock: Clock): void {
  const check = decideWindow({ offer, now: clock.now() });
  if (check.status === 'rejected') throw refusal(check);
}

function refusal(check: Check): ApiError {
  return new ApiError(check.status === 'waiting' ? 'offer_not_started' : 'offer_ended', { checks: [check] });
}
