/** Waiting entries, grouped into lanes. The lanes take turns. */
export type Turns<Entry> = {
  add(lane: string, entry: Entry): void;
  /** Removes and returns up to `count` entries, taking one from each lane in turn. */
  take(count: number): Entry[];
  size(): number;
};

export function createTurns<Entry>(): Turns<Entry> {
  /** Lanes with entries, in the order in which the lanes take turns. */
  const lanes = new Map<string, Entry[]>();
  let size = 0;
  return {
    size: () => size,
    add: (lane, entry) => {
      const entries = lanes.get(lane) ?? [];
      lanes.set(lane, entries);
      entries.push(entry);
      size++;
    },
    take: (count) => {
      const taken: Entry[] = [];
      // A lane that still has entries is deleted and set again. Setting it again moves the lane to the end of the map,
      // so this loop visits the lane again.
      for (const [lane, entries] of lanes) {
        if (taken.length === count) break;
        taken.push(...entries.splice(0, 1));
        lanes.delete(lane);
        if (entries.length > 0) lanes.set(lane, entries);
      }
      size -= taken.length;
      return taken;
    },
  };
}
