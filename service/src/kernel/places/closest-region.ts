import { foldKey } from './fold.ts';
import { listRegions } from './regions.ts';

/** Returns the country's region whose name is most similar to the text, or null if no name is similar. */
export function closestRegion(country: string, text: string): { code: string; name: string } | null {
  const wanted = foldKey(text);
  const distances = listRegions(country).map((region) => ({
    region,
    distance: editDistance(wanted, foldKey(region.name)),
  }));
  const [closest] = distances.sort((a, b) => a.distance - b.distance);
  if (closest === undefined || closest.distance > Math.max(1, wanted.length / 3)) return null;
  return closest.region;
}

/**
 * Returns the Levenshtein distance: the smallest number of characters to insert, delete or replace to turn `a` into
 * `b`.
 */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a[i] === b[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
