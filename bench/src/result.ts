/** A measured value and the limit it must meet; `goal` is informational. */
export type Bar = { label: string; value: number; goal?: number } & ({ min: number } | { max: number });

/** The outcome of one benchmark. `figures` are printed and stored unchanged. */
export type Result = {
  name: string;
  bars: Bar[];
  figures: Record<string, unknown>;
};

/** `rows` is the size of the seeded tables, for benchmarks that seed any. `part` runs one part of a benchmark. */
export type Options = { rows?: number; part?: string };
