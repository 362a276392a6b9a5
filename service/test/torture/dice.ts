/** Blocks that are undone at once, at most. */
export const DEEPEST_REORGANISATION = 3;

/** The same throws for the same seed (mulberry32). */
export type Dice = {
  number(below: number): number;
  chance(share: number): boolean;
  pick<T>(list: readonly T[]): T;
};

export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    number: (below) => Math.floor(next() * below),
    chance: (share) => next() < share,
    pick: (list) => {
      const found = list[Math.floor(next() * list.length)];
      if (found === undefined) throw new Error('nothing to pick from');
      return found;
    },
  };
}
