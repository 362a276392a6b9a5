/**
 * Safe markup. Only `html` and `trustedHtml` create it, so that no unescaped text gets into a page by
 * accident.
 */
export type Html = { readonly markup: string };

type Part = string | number | Html | null | undefined | false | readonly Part[];

/** A template tag that escapes its values for text and quoted attributes. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  let markup = strings[0] ?? '';
  for (const [i, part] of parts.entries()) markup += render(part) + (strings[i + 1] ?? '');
  return { markup };
}

/** Marks text as markup. Use this only for text that ships with the program, such as the program's documentation. */
export function trustedHtml(markup: string): Html {
  return { markup };
}

function render(part: Part): string {
  if (part === null || part === undefined || part === false) return '';
  if (typeof part === 'string' || typeof part === 'number') return escapeHtml(String(part));
  return 'markup' in part ? part.markup : part.map(render).join('');
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
