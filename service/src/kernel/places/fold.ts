/** Letters that Unicode does not decompose into a base letter and a mark. */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ı: 'i',
};

/**
 * Converts text to lower case and removes diacritics, dots, apostrophes, quotation marks and invisible characters.
 * Replaces each remaining run of characters that are neither letters nor digits with one space.
 */
export function foldText(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[ßæœøłđðþħı]/g, (letter) => LETTERS[letter] ?? letter)
    .replace(/[\p{M}\p{Cf}\p{Lm}\p{Sk}.'’‘`´"“”]/gu, '')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** Like `foldText`, but also removes the spaces. Used to compare texts. */
export function foldKey(text: string): string {
  return foldText(text).replaceAll(' ', '');
}
