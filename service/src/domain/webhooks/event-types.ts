import { invalidField } from '../../kernel/errors.ts';

/**
 * The event types by group. Endpoints cannot subscribe to any other name, because a misspelled name would never match
 * an event.
 */
const EVENT_TYPES: Record<string, readonly string[]> = {
  participation: [
    ...['prepared', 'pending', 'submitted', 'completed', 'failed'],
    ...['remit_submitted', 'remitted', 'remit_failed'],
  ],
  requirement: ['status_changed'],
  document_submission: ['initialized', 'sent', 'viewed', 'completed', 'declined', 'expired'],
  wallet: ['bound', 'unbound', 'allowed', 'revoked'],
  tokenized_swap: ['issued', 'executed', 'expired'],
  offer: ['published', 'started', 'ended'],
  webhook_endpoint: ['disabled', 'recovered'],
  webhook: ['test'],
};

/** Throws `validation_failed` unless each entry is an event type, a group such as `wallet.*`, `redacted`, or `*`. */
export function assertKnownTypes(types: readonly string[]): void {
  const unknown = types.find((type) => !isKnown(type));
  if (unknown !== undefined) throw invalidField('types', `"${unknown}" is not an event type`);
}

function isKnown(type: string): boolean {
  if (type === '*' || type === 'redacted') return true;
  const [group = '', name = ''] = type.split('.');
  const names = Object.hasOwn(EVENT_TYPES, group) ? EVENT_TYPES[group] : undefined;
  return names !== undefined && (name === '*' || names.includes(name));
}
