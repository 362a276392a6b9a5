import { ApiError } from '../errors.ts';
import { REQUIREMENT_TYPES, type Requirement } from './requirement.ts';

/**
 * Returns whether this release knows the type. During an upgrade, the database may contain types that only the newer
 * release knows.
 */
export function isKnownType({ type }: Pick<Requirement, 'type'>): boolean {
  return REQUIREMENT_TYPES.includes(type);
}

/**
 * Throws `unavailable` if this release does not know the type. When the client retries, a node that runs the newer
 * release can answer.
 */
export function assertKnownType(requirement: Pick<Requirement, 'type'>): void {
  if (isKnownType(requirement)) return;
  const cause = new Error(`this release does not know the requirement type ${requirement.type}`);
  throw new ApiError('unavailable', {}, { cause, headers: { 'retry-after': '2' } });
}
