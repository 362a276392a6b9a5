import { type Html, html } from '../../kernel/html.ts';
import { PAGE_COLOURS, PASSKEY_SCRIPT, STYLESHEET, SUBMIT_SCRIPT, THEME } from './assets.ts';

/** Line icons on a 24 × 24 grid, in the text color. They are decorative: text is always next to them. */
const icon = (paths: Html): Html =>
  html`<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${paths}</svg>`;

export const ICONS = {
  key: icon(html`<circle cx="8" cy="12" r="4.5"/><path d="M12.5 12H22M18 12v4M21.5 12v2.5"/>`),
  eye: icon(
    html`<path d="M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Z"/><circle cx="12" cy="12" r="2.8"/>`,
  ),
  pen: icon(
    html`<path d="m4 20 1-4.5L15.8 4.7a1.8 1.8 0 0 1 2.5 0l1 1a1.8 1.8 0 0 1 0 2.5L8.5 19 4 20ZM14 6.5l3.5 3.5"/>`,
  ),
  shield: icon(
    html`<path d="M12 3 4.5 6v5.5c0 4.6 3.1 8 7.5 9.5 4.4-1.5 7.5-4.9 7.5-9.5V6L12 3Z"/><path d="m9 12 2.2 2.2L15.2 10"/>`,
  ),
  wallet: icon(
    html`<path d="M4 7.5A2.5 2.5 0 0 1 6.5 5H17v3M4 7.5A2.5 2.5 0 0 0 6.5 10H20v9H6.5A2.5 2.5 0 0 1 4 16.5v-9Z"/><path d="M16 14.5h.01"/>`,
  ),
  laptop: icon(html`<rect x="4.5" y="5" width="15" height="10.5" rx="1.5"/><path d="M2.5 19h19"/>`),
  phone: icon(html`<rect x="7" y="2.5" width="10" height="19" rx="2"/><path d="M11 18.5h2"/>`),
} as const;

const art = (paths: Html): Html =>
  html`<svg class="art" viewBox="0 0 160 96" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path class="art-ground" d="M14 82h132M30 90h60M104 90h26"/>${paths}</svg>`;

/** Small drawings for pages and lists that have nothing else to show. */
export const ART = {
  mail: art(
    html`<rect class="art-fill" x="46" y="22" width="68" height="46" rx="5"/><path d="m48 26 32 24 32-24"/><path d="M122 30h12M124 42h8M26 34h12M28 46h8"/>`,
  ),
  apps: art(
    html`<rect class="art-fill" x="30" y="34" width="36" height="36" rx="8"/><rect class="art-fill" x="94" y="34" width="36" height="36" rx="8"/><path stroke-dasharray="2 6" d="M66 52h28"/><path d="M42 52h12M106 46h12M106 58h8"/>`,
  ),
  passkeys: art(
    html`<circle class="art-fill" cx="58" cy="46" r="18"/><path d="M76 46h46M110 46v13M120 46v9"/><path d="M52 46h.01"/>`,
  ),
  done: art(html`<circle class="art-fill" cx="80" cy="44" r="28"/><path d="m67 45 9 9 18-20"/>`),
  gone: art(
    html`<path class="art-fill" d="M24 66V54a14 14 0 0 1 28 0v12M52 66V54a14 14 0 0 1 28 0v4"/><path class="art-fill" d="M112 66V54a14 14 0 0 1 28 0v12"/><path d="M18 36h58M114 36h30"/><path stroke-dasharray="2 6" d="M84 36h24M80 66h32"/>`,
  ),
  wait: art(
    html`<path class="art-fill" d="M60 18h40M60 76h40M64 18c0 18 12 20 16 29-4 9-16 11-16 29M96 18c0 18-12 20-16 29 4 9 16 11 16 29"/><path d="M74 68h12"/>`,
  ),
} as const;

export type ArtName = keyof typeof ART;

export function emptyState(name: ArtName, text: string): Html {
  return html`<div class="empty">${ART[name]}<p class="soft">${text}</p></div>`;
}

export type Page = {
  title: string;
  body: Html;
  /** Uses a wider column, which suits lists. Forms are easier to read in a narrow column. */
  wide?: true;
  passkeys?: boolean;
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

type Field = {
  name: string;
  label: string;
  type: 'email' | 'password' | 'text';
  inputmode?: 'numeric' | 'text';
  autocomplete: string;
  value?: string;
  hint?: string;
  problem?: string | undefined;
  autofocus?: boolean;
  minlength?: number;
  aside?: Html;
};

/** Renders a labeled input. Screen readers announce the hint and the problem together with the input. */
export function field(options: Field): Html {
  const { name, label, type, autocomplete, value, hint, problem, autofocus, minlength, aside, inputmode } =
    options;
  const describedBy = [hint !== undefined && `${name}-hint`, problem !== undefined && `${name}-problem`]
    .filter(Boolean)
    .join(' ');
  return html`<div class="field">
<div class="label-row"><label for="${name}">${label}</label>${aside}</div>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}" required maxlength="${type === 'email' ? 254 : 256}"${
    minlength !== undefined && html` minlength="${minlength}"`
  }${value !== undefined && html` value="${value}"`}${describedBy !== '' && html` aria-describedby="${describedBy}"`}${
    problem !== undefined && html` aria-invalid="true"`
  }${autofocus === true && html` autofocus`}${type === 'email' && html` inputmode="email"`}${inputmode !== undefined && html` inputmode="${inputmode}"`}${type !== 'password' && html` autocapitalize="none" spellcheck="false"`}>
${hint !== undefined && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${problem !== undefined && html`<p class="problem" id="${name}-problem">${problem}</p>`}
</div>`;
}

export function hiddenField(name: string, value: string | null): Html | null {
  return value === null ? null : html`<input type="hidden" name="${name}" value="${value}">`;
}

export function notice(text: string | undefined, isError = false): Html | null {
  if (text === undefined) return null;
  return isError
    ? html`<p class="notice bad" role="alert">${text}</p>`
    : html`<p class="notice" role="status">${text}</p>`;
}
