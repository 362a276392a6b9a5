import { ApiError } from '../errors.ts';
import { REQUIREMENT_TYPES, type Requirement } from './schema.ts';

/** Returns whether this release knows the type. During an upgrade, the database may have one of the newer release. */
export function isKnownType({ type }: Pick<Requirement, 'type'>): boolean {
  return REQUIREMENT_TYPES.includes(type);
}

/** Throws `unavailable` for a type of a newer release: a node of that release can answer the retry. */
export function assertKnownType(requirement: Pick<Requirement, 'type'>): void {
  if (isKnownType(requirement)) return;
  const cause = new Error(`this release does not know the requirement type ${requirement.type}`);
  throw new ApiError('unavailable', {}, { cause, headers: { 'retry-after': '2' } });
}
