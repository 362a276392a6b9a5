import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { foldKey, foldText } from './fold.ts';
import { REGION_SPELLINGS } from './region-spellings.ts';

type Entry = { code: string; name: string };

/** The ISO 3166-2 regions of each country. */
const ENTRIES = new Map<string, Entry[]>();
/** For each region that is part of a larger region, the code of the larger region. */
const PARENTS = new Map<string, string>();
readRegions();

/**
 * Maps names and codes of one country's regions to ISO 3166-2 codes. All keys are folded (see `fold.ts`). The keys of
 * `exact` are codes and whole names. The keys of `stripped` are names without words such as "state". A stripped name
 * that several regions have in common maps to null.
 */
type Index = { exact: ReadonlyMap<string, string>; stripped: ReadonlyMap<string, string | null> };
const INDEXES = new Map<string, Index>();

/** Caches search results, because most offers and addresses mention the same few regions. */
const FOUND = new Map<string, string | null>();
const MAX_FOUND = 10_000;
const MAX_CACHED_LENGTH = 100;

/** Words for kinds of regions, and the small words around them (`of`, `de`), in the languages that addresses use. */
const KINDS = new Set(
  `state province region oblast oblasti obl kray krai republic respublika autonomous avtonomna avtonomnaya city misto gorod
  municipality prefecture canton kanton territory emirate governorate county department departamento provincia estado
  comunidad commonwealth sheng shi zizhiqu sar of the and de do da del la область обл республика республіка автономна
  автономная край город місто`.split(/\s+/),
);

/**
 * Finds the ISO 3166-2 code of a region by code, name or common spelling (`N.Y.`, `State of New York`, `Brooklyn, NY`).
 * Returns null if the text matches no region of the country, or more than one.
 */
export function findRegion(country: string, text: string): string | null {
  const key = `${country} ${text}`;
  const known = FOUND.get(key);
  if (known !== undefined) return known;
  const found = searchRegion(country, text);
  if (FOUND.size >= MAX_FOUND) FOUND.clear();
  if (text.length <= MAX_CACHED_LENGTH) FOUND.set(key, found);
  return found;
}

function searchRegion(country: string, text: string): string | null {
  const index = indexOf(country);
  const whole = lookUp(index, country, text);
  if (whole !== null) return whole;
  const codes = text
    .split(/[,;/|()]|\s-\s/)
    .map((part) => lookUp(index, country, part))
    .filter((code) => code !== null);
  return new Set(codes).size === 1 ? (codes[0] ?? null) : null;
}

/** Lists the ISO 3166-2 regions of a country. */
export function listRegions(country: string): readonly Entry[] {
  return ENTRIES.get(country) ?? [];
}

/** Returns the region and all regions that contain it. */
export function withParents(code: string): string[] {
  const parent = PARENTS.get(code);
  return parent === undefined ? [code] : [code, ...withParents(parent)];
}

function lookUp({ exact, stripped }: Index, country: string, text: string): string | null {
  const words = foldText(text)
    .split(' ')
    .filter((word) => !/^\d{4,}$/.test(word));
  if (words.length > 1 && words[0] === country.toLowerCase()) words.shift();
  return exact.get(words.join('')) ?? stripped.get(strip(words)) ?? null;
}

function strip(words: readonly string[]): string {
  return words.filter((word) => !KINDS.has(word)).join('');
}

function indexOf(country: string): Index {
  const known = INDEXES.get(country);
  if (known !== undefined) return known;
  const index = buildIndex(ENTRIES.get(country) ?? [], spellingsOf(country));
  INDEXES.set(country, index);
  return index;
}

function buildIndex(entries: readonly Entry[], spellings: readonly Entry[]): Index {
  const exact = new Map<string, string>();
  const stripped = new Map<string, string | null>();
  // If entries have the same key, the first one wins: codes win over names, and ISO names win over spellings.
  const addExact = (key: string, code: string) => exact.has(key) || exact.set(key, code);
  for (const { code } of entries) addExact(foldKey(code.slice(3)), code);
  for (const { code, name } of [...entries, ...spellings])
    for (const each of [name, ...name.split(/[()]/)].filter((part) => foldKey(part) !== '')) {
      addExact(foldKey(each), code);
      const key = strip(foldText(each).split(' '));
      if (key !== '')
        stripped.set(key, (stripped.get(key) ?? code) === code && stripped.get(key) !== null ? code : null);
    }
  return { exact, stripped };
}

function spellingsOf(country: string): Entry[] {
  return (REGION_SPELLINGS[country] ?? '')
    .split('|')
    .map((entry) => /^\s*(\S+) (.+)$/s.exec(entry))
    .filter((match) => match !== null)
    .map(([, code = '', name = '']) => ({ code: code.includes('-') ? code : `${country}-${code}`, name }));
}

function readRegions(): void {
  const file = fileURLToPath(new URL('./iso-3166-2.txt', import.meta.url));
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, code, parent, name] = /^([A-Z]{2}-\w+)(?:<(\S+))? (.+)$/.exec(line) ?? [];
    if (code === undefined || name === undefined) continue;
    if (parent !== undefined) PARENTS.set(code, parent);
    const country = code.slice(0, 2);
    const entries = ENTRIES.get(country);
    if (entries === undefined) ENTRIES.set(country, [{ code, name }]);
    else entries.push({ code, name });
  }
}
