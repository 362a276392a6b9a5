import { type Html, html } from '../../kernel/html.ts';
import { PAGE_COLOURS, PASSKEY_SCRIPT, STYLESHEET, SUBMIT_SCRIPT, THEME } from './assets.ts';

export type Page = {
  title: string;
  body: Html;
  /** Uses a wider column, which suits lists. Forms are easier to read in a narrow column. */
  wide?: true;
  /** Loads the passkey script. */
  passkeys?: boolean;
  /** Loads the script that submits the page's form as soon as the user sees the page. */
  submits?: boolean;
};

/** The Causeway logo: three arches over water. */
export const LOGO = html`<svg viewBox="0 0 32 32" fill="none" stroke="currentColor" stroke-width="2.5" stroke-linecap="round" aria-hidden="true"><path d="M2 11h28"/><path d="M4 23v-3a4 4 0 0 1 8 0v3M12 23v-3a4 4 0 0 1 8 0v3M20 23v-3a4 4 0 0 1 8 0v3"/></svg>`;

export function renderPage({ title, body, wide, passkeys, submits }: Page): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="${PAGE_COLOURS.light}">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="${PAGE_COLOURS.dark}">
<title>${title} · Causeway</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${THEME.path}">
<link rel="stylesheet" href="${STYLESHEET.path}">
${passkeys === true && html`<script type="module" src="${PASSKEY_SCRIPT.path}"></script>`}
${submits === true && html`<script type="module" src="${SUBMIT_SCRIPT.path}"></script>`}
</head>
<body${wide === true && html` class="wide"`}>
<header class="top"><a class="mark" href="/account">${LOGO}Causeway</a></header>
<main><div class="sheet">
${body}
</div></main>
<footer class="foot">Apps only see what you allow.</footer>
</body>
</html>
`;
  return page.markup;
}
