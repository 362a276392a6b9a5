import { readFile } from 'node:fs/promises';
import { Marked } from 'marked';
import { type Html, trustedHtml } from '../../kernel/html.ts';
import type { DocsLink } from '../../platform/pages/docs-page.ts';

const FOLDER = new URL('../../../../docs/', import.meta.url);

/** The pages made from the files in `docs/`. The key is the name of the file without its extension. */
export const GUIDES: Record<string, DocsLink> = {
  partners: { href: '/docs/guides/partners', name: 'Partner guide' },
  react: { href: '/docs/guides/react', name: 'React' },
  wallets: { href: '/docs/guides/wallets', name: 'Wallets' },
  theming: { href: '/docs/guides/theming', name: 'Theming' },
  redirects: { href: '/docs/guides/redirects', name: 'Redirects and CORS' },
  languages: { href: '/docs/guides/languages', name: 'Other languages' },
  sdk: { href: '/docs/guides/sdk', name: 'SDK guarantees' },
  testing: { href: '/docs/guides/testing', name: 'Testing' },
  errors: { href: '/docs/errors', name: 'Errors' },
  operators: { href: '/docs/guides/operators', name: 'Operators' },
  offers: { href: '/docs/guides/offers', name: 'Offer files' },
  settlement: { href: '/docs/guides/settlement', name: 'Settlement' },
  configuration: { href: '/docs/guides/configuration', name: 'Configuration' },
};

export async function readGuide(name: string): Promise<Html> {
  const text = await readFile(new URL(`${name}.md`, FOLDER), 'utf8');
  // Removes HTML comments. They are instructions for the test that runs the guides' commands.
  return trustedHtml(String(markdown().parse(text.replace(/<!--[\s\S]*?-->\n?/g, ''))));
}

/** Renders our own Markdown. Links to other files in the repository, which are not served, become plain text. */
function markdown(): Marked {
  const used = new Map<string, number>();
  return new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens);
        const slug = slugOf(text, used);
        return `<h${depth} id="${slug}">${text}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href);
        return target === null ? text : `<a href="${target}">${text}</a>`;
      },
      table(token) {
        const head = token.header.map((cell) => `<th>${this.parser.parseInline(cell.tokens)}</th>`).join('');
        const rows = token.rows.map(
          (row) =>
            `<tr>${row.map((cell) => `<td>${this.parser.parseInline(cell.tokens)}</td>`).join('')}</tr>`,
        );
        return `<div class="table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table></div>\n`;
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escapeCode(text)}</code></pre>\n`;
      },
    },
  });
}

/** Generates the same anchors as GitHub, because links in the guides use them. */
function slugOf(text: string, used: Map<string, number>): string {
  const slug = text
    .toLowerCase()
    .replace(/<[^>]+>|&#?\w+;/g, '')
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replace(/\s/g, '-');
  const count = used.get(slug) ?? 0;
  used.set(slug, count + 1);
  return count === 0 ? slug : `${slug}-${count}`;
}

function targetOf(href: string): string | null {
  if (/^(https?:|#|\/)/.test(href)) return href;
  if (href.endsWith('openapi.json')) return '/openapi.json';
  const [, name = '', anchor = ''] = /^([a-z]+)\.md(#.*)?$/.exec(href) ?? [];
  const guide = GUIDES[name];
  return guide === undefined ? null : `${guide.href}${anchor}`;
}

function escapeCode(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
