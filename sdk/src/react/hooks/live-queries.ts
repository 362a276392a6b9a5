import type { Resource } from '../../queries.ts';
import type { Event } from '../../wire.ts';

/** The resources that each group of events may change. */
const RESOURCES: Record<string, readonly Resource[]> = {
  participation: ['participation', 'participations', 'tokenBalance', 'tokenAllowance'],
  requirement: ['requirementStatuses'],
  document_submission: ['requirementStatuses'],
  wallet: ['connectedWallets', 'requirementStatuses', 'walletAuthorization'],
  tokenized_swap: ['tokenBalance', 'tokenAllowance'],
  offer: ['offer', 'offers'],
};
/** Resources whose changes are all reported by events, so polling them is only a fallback. */
const COVERED: readonly Resource[] = [
  'participation',
  'participations',
  'requirementStatuses',
  'connectedWallets',
];

const isOf = (resources: readonly Resource[], key: string) =>
  resources.some((resource) => key.startsWith(`${resource}:`));

/** Returns whether an event may have changed the result of a query. */
export function isAffected({ type }: Event, key: string): boolean {
  return isOf(RESOURCES[type.split('.')[0] ?? ''] ?? [], key);
}

/** Returns whether events report every change to the result of a query. */
export function isCovered(key: string): boolean {
  return isOf(COVERED, key);
}
