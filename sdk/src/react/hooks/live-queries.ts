import type { Resource } from '../../queries.ts';
import type { Event } from '../../wire.ts';

/**
 * Maps each group of events to the resources that the events are about. Events report every change to these resources,
 * so polling them is only a fallback. Resources that can change without an event, such as balances, are not listed.
 */
const RESOURCES: Record<string, readonly Resource[]> = {
  participation: ['participation', 'participations'],
  requirement: ['requirementStatuses'],
  document_submission: ['requirementStatuses'],
  wallet: ['connectedWallets', 'requirementStatuses'],
};

const isOf = (resources: readonly Resource[], key: string) =>
  resources.some((resource) => key.startsWith(`${resource}:`));

/** Returns whether an event may have changed the result of a query. A redacted event may be about anything. */
export function isAffected({ type }: Event, key: string): boolean {
  return type === 'redacted' ? isCovered(key) : isOf(RESOURCES[type.split('.')[0] ?? ''] ?? [], key);
}

/** Returns whether events report every change to the result of a query. */
export function isCovered(key: string): boolean {
  return isOf(Object.values(RESOURCES).flat(), key);
}
