/** Faults that apply once, to the next request that is not a GET. */
export const ONE_SHOT_FAULTS = ['none', 'silent_after_effect', 'error_500', 'conflict'] as const;
export type OneShotFault = (typeof ONE_SHOT_FAULTS)[number];

export type OneShotFaults = { set(fault: OneShotFault): void; take(method: string): OneShotFault };

export function createOneShotFaults(): OneShotFaults {
  let next: OneShotFault = 'none';
  return {
    set: (fault) => {
      next = fault;
    },
    take: (method) => {
      if (method === 'GET') return 'none';
      const taken = next;
      next = 'none';
      return taken;
    },
  };
}
