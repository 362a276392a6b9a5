import type { ServerResponse } from 'node:http';
import { type Html, html } from '@causeway/service/kernel/html.ts';

const STYLE = html`<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { margin: 0; background: Canvas; color: CanvasText; }
  main { max-width: 40rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
  .notice { border-left: 4px solid #c77700; padding: .5rem 1rem; margin: 0 0 2rem; }
  label { display: block; margin: .75rem 0 .25rem; font-weight: 600; }
  input:not([type=radio]) { width: 100%; box-sizing: border-box; padding: .5rem; font: inherit; }
  fieldset { border: 1px solid GrayText; border-radius: .5rem; margin: 1.5rem 0; padding: 0 1rem 1rem; }
  .row { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 0 1rem; }
  .choice { display: flex; gap: .5rem; font-weight: 400; margin: .5rem 0; }
  button { font: inherit; padding: .6rem 1.2rem; border-radius: .4rem; border: 1px solid GrayText; cursor: pointer; margin: 0 .5rem .5rem 0; }
  button.main { background: #0b57d0; border-color: #0b57d0; color: #fff; }
  :focus-visible { outline: 3px solid #0b57d0; outline-offset: 2px; }
  dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; } dt { font-weight: 600; } dd { margin: 0; overflow-wrap: anywhere; }
</style>`;

/** Sends a simulated provider's page, with a notice that the provider is simulated. */
export function sendPage(response: ServerResponse, status: number, title: string, body: Html): void {
  const page = html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>${STYLE}</head>
<body><main><p class="notice">This is a simulated provider of the Causeway sandbox. Nothing you enter leaves this machine.</p>
<h1>${title}</h1>${body}</main></body></html>`;
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    .end(page.markup);
}
