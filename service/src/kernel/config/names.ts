import type { Environment } from './read.ts';
import { SETTINGS } from './settings.ts';

const PREFIX = 'CAUSEWAY_';
const OWN_NAMES = Object.keys(SETTINGS).filter((name) => name.startsWith(PREFIX));

/**
 * Finds environment variables that look like settings but are not. A name close to that of a `CAUSEWAY_` setting is a
 * problem: it is probably a typo, and the setting would silently keep its default. Other `CAUSEWAY_` names get only a
 * warning, because orchestrators inject variables with this prefix.
 */
export function checkNames(env: Environment): { problems: string[]; warnings: string[] } {
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const name of Object.keys(env)) {
    if (Object.hasOwn(SETTINGS, name)) continue;
    const intended = OWN_NAMES.find((known) => isMisspelling(name.toUpperCase(), known));
    if (intended !== undefined) problems.push(`${name}: is not a setting; did you mean ${intended}?`);
    else if (name.startsWith(PREFIX)) warnings.push(`${name} is not a setting and has no effect`);
  }
  return { problems, warnings };
}

/**
 * Returns whether `name` is probably a typo of `known`. In short names, only one character may differ: with two,
 * unrelated words would match.
 */
function isMisspelling(name: string, known: string): boolean {
  const limit = known.length - PREFIX.length <= 4 ? 1 : 2;
  return Math.abs(name.length - known.length) <= limit && editDistance(name, known) <= limit;
}

/** Counts insertions, deletions, substitutions and swaps of adjacent characters. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const distance = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + cost);
      rows[i]?.push(isSwap ? Math.min(distance, at(i - 2, j - 2) + 1) : distance);
    }
  }
  return at(a.length, b.length);
}
