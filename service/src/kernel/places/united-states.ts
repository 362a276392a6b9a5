import { listNames } from './countries.ts';
import { foldKey, foldText } from './fold.ts';

/** The United States with its territories, as tax rules and Regulation S define it. */
export const UNITED_STATES: ReadonlySet<string> = new Set(['US', 'PR', 'GU', 'VI', 'AS', 'MP', 'UM']);

/** Names of the United States and its territories. These names also count inside a longer text (`New York, USA`). */
const PHRASES = [
  'United States',
  'USA',
  'US',
  'U S A',
  'U S',
  'Puerto Rico',
  'Guam',
  'American Samoa',
  'Northern Mariana',
  'US Virgin Islands',
  'Estados Unidos de América',
  'EE UU',
  'EEUU',
  'EUA',
  'États-Unis',
  'Vereinigte Staaten',
  'Vereinigten Staaten',
  'Stati Uniti',
  'Verenigde Staten',
  'Stany Zjednoczone',
  'Соединенные Штаты',
  'США',
  'Сполучені Штати',
].map(foldText);

/** Names that must match the whole text, because inside a longer text they can mean another country. */
const WHOLE_NAMES: ReadonlySet<string> = new Set(
  [
    ...listNames(UNITED_STATES),
    'America',
    'Estados Unidos',
    'Estados Unidos da América',
    'Amerika',
    'Amérique',
    'Amerika Birleşik Devletleri',
    'ABD',
    'Förenta staterna',
    'Spojené státy americké',
    'Egyesült Államok',
    'Statele Unite ale Americii',
    'Saipan',
    'Virgin Islands',
    'Virgin Islands, U.S.',
    '美国',
    '美國',
    'アメリカ',
    'アメリカ合衆国',
    '米国',
    '미국',
    'الولايات المتحدة',
    'الولايات المتحدة الأمريكية',
    'ארצות הברית',
  ].map(foldKey),
);

/** Returns whether the text names the United States or one of its territories, in the usual spellings and languages. */
export function namesUnitedStates(text: string): boolean {
  if (WHOLE_NAMES.has(foldKey(text))) return true;
  const words = ` ${foldText(text)} `;
  return PHRASES.some((phrase) => words.includes(` ${phrase} `));
}
