import { type Html, html } from '../../kernel/html.ts';
import { DOCS_STYLESHEET, PAGE_COLOURS, REFERENCE_SCRIPT, STYLESHEET, THEME } from './assets.ts';
import { LOGO } from './layout.ts';

export type DocsLink = { href: string; name: string };

type DocsPage = {
  title: string;
  nav: readonly DocsLink[];
  current: string;
  body: Html;
};

export function renderGuide({ title, nav, current, body }: DocsPage): string {
  const head = html`<link rel="stylesheet" href="${STYLESHEET.path}">`;
  return frame({ title, nav, current }, head, html`<main class="guide">${body}</main>`);
}

/** Renders the API reference page. A script adds the reference and, in the sandbox, prefills working tokens and ids. */
export function renderReference(nav: readonly DocsLink[], documentUrl: string, isSandbox: boolean): string {
  return frame(
    { title: 'API reference', nav, current: '/docs' },
    html`<script src="/docs/reference.js" defer></script>
<script type="module" src="${REFERENCE_SCRIPT.path}"></script>`,
    html`<div id="reference" data-url="${documentUrl}"${isSandbox && html` data-sandbox`}>
<noscript><p class="guide">The API reference requires JavaScript. The same information is in <a href="/openapi.json">openapi.json</a>.</p></noscript>
</div>`,
  );
}

function frame({ title, nav, current }: Omit<DocsPage, 'body'>, head: Html, body: Html): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="${PAGE_COLOURS.light}">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="${PAGE_COLOURS.dark}">
<title>${title} · Causeway</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${THEME.path}">
${head}
<link rel="stylesheet" href="${DOCS_STYLESHEET.path}">
</head>
<body class="docs">
<nav class="docs-top" aria-label="Documentation"><a class="mark" href="/">${LOGO}Causeway</a>
<div class="links">${nav.map(
    ({ href, name }) => html`<a href="${href}"${href === current && html` aria-current="page"`}>${name}</a>`,
  )}</div></nav>
${body}
</body>
</html>
`.markup;
}
