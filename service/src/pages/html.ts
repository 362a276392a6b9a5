/** Markup that is safe to send. Only `html` makes it, so text cannot be taken for markup by accident. */
export type Html = { readonly markup: string };

type Part = string | number | Html | null | undefined | false | readonly Part[];

/** A template whose values are escaped, for text and for quoted attributes alike. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  let markup = strings[0] ?? '';
  for (const [i, part] of parts.entries()) markup += render(part) + (strings[i + 1] ?? '');
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

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}
