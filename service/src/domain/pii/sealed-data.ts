import type { PersonalData, PiiFacts } from '../../kernel/model/personal-data.ts';
import type { Sealing } from '../../kernel/sealing.ts';
import type { FactsOpener } from '../../platform/context/ports.ts';

/** Encrypted and bound to its user, so that data moved to another row cannot be decrypted. */
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

const MAX_CACHED_USERS = 10_000;

export function createFactsOpener(sealing: Sealing): FactsOpener {
  const cache = new Map<string, { sealed: Buffer; facts: PiiFacts }>();
  return (userId, sealed) => {
    const cached = cache.get(userId);
    if (cached?.sealed.equals(sealed)) return cached.facts;
    const facts = openFacts(sealing, userId, sealed);
    if (cache.size >= MAX_CACHED_USERS) cache.clear();
    cache.set(userId, { sealed, facts });
    return facts;
  };
}
