/** What goes wrong with the next request that changes something: once, then all is well again. */
export const QUIRKS = ['none', 'silent_after_effect', 'error_500', 'conflict'] as const;
export type Quirk = (typeof QUIRKS)[number];

export type Quirks = { set(quirk: Quirk): void; take(method: string): Quirk };

export function createQuirks(): Quirks {
  let next: Quirk = 'none';
  return {
    set: (quirk) => {
      next = quirk;
    },
    take: (method) => {
      if (method === 'GET') return 'none';
      const taken = next;
      next = 'none';
      return taken;
    },
  };
}
