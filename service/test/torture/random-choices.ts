/** Maximum depth of a reorganization in blocks. */
export const MAX_REORGANISATION_DEPTH = 3;

/** Seeded random choices (mulberry32): the same seed gives the same sequence. */
export type RandomChoices = {
  /** Returns an integer from 0 to `below - 1`. */
  integer(below: number): number;
  /** Returns true with this probability. */
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
};

export function createRandomChoices(seed: number): RandomChoices {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    integer: (below) => Math.floor(next() * below),
    chance: (probability) => next() < probability,
    pick: (list) => {
      const picked = list[Math.floor(next() * list.length)];
      if (picked === undefined) throw new Error('the list to pick from is empty');
      return picked;
    },
  };
}
