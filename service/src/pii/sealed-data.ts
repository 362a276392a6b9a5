import type { Sealing } from '../sealing.ts';
import type { PersonalData, PiiFacts } from './personal-data.ts';

/** A row is bound to its user: sealed data moved to another row does not open. */
export type SealedPii = { sealed: Buffer; sealed_facts: Buffer };

export function sealPii(sealing: Sealing, userId: string, data: PersonalData, facts: PiiFacts): SealedPii {
  return {
    sealed: sealing.seal('pii', Buffer.from(JSON.stringify(data)), userId),
    sealed_facts: sealing.seal('pii facts', Buffer.from(JSON.stringify(facts)), userId),
  };
}

export function openPii(sealing: Sealing, userId: string, sealed: Buffer): PersonalData {
  return JSON.parse(sealing.open('pii', sealed, userId).toString());
}

export function openFacts(sealing: Sealing, userId: string, sealed: Buffer): PiiFacts {
  return JSON.parse(sealing.open('pii facts', sealed, userId).toString());
}

/** Opens facts, and remembers what it opened last: they are asked for again and again while a user is at it. */
export type FactsOpener = (userId: string, sealed: Buffer) => PiiFacts;

const MAX_REMEMBERED = 10_000;

export function createFactsOpener(sealing: Sealing): FactsOpener {
  const opened = new Map<string, { sealed: Buffer; facts: PiiFacts }>();
  return (userId, sealed) => {
    const known = opened.get(userId);
    if (known?.sealed.equals(sealed)) return known.facts;
    const facts = openFacts(sealing, userId, sealed);
    if (opened.size >= MAX_REMEMBERED) opened.clear();
    opened.set(userId, { sealed, facts });
    return facts;
  };
}
