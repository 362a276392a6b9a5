import type { ApiError, ErrorCode } from '../../kernel/errors.ts';
import { html } from '../../kernel/html.ts';
import { ART, type ArtName } from './icons.ts';
import type { Page } from './layout.ts';

type Message = {
  title: string;
  text: string;
  action?: { label: string; href: string };
  eventId?: string;
  art?: ArtName;
};

/** A page with one message and at most one action. */
export function messagePage({ title, text, action, eventId, art = 'gone' }: Message): Page {
  return {
    title,
    body: html`${ART[art]}<h1>${title}</h1>
<p class="lead">${text}</p>
${action !== undefined && html`<p><a class="button" href="${action.href}">${action.label}</a></p>`}
${eventId !== undefined && html`<p class="soft small">Need help? Quote this reference: <code>${eventId}</code></p>`}`,
  };
}

const TITLES: Partial<Record<ErrorCode, string>> = {
  forged_form: 'Please try again',
  rate_limited: 'Too many attempts',
  not_found: 'Page not found',
  validation_failed: 'We couldn’t process this form',
};

export function errorPage(error: ApiError, eventId: string): Page {
  const title = TITLES[error.code] ?? 'Something went wrong';
  const retryAfter = Number(error.headers['retry-after'] ?? 60);
  const text =
    error.code === 'rate_limited' ? `Wait ${formatWait(retryAfter)} and try again.` : error.message;
  return messagePage({ title, text, eventId, art: error.code === 'rate_limited' ? 'wait' : 'gone' });
}

/** The page for a sign-in that cannot return to the app because the client or the redirect URI is unknown. */
export function signInFailedPage(reason: string): Page {
  return {
    title: 'We couldn’t sign you in',
    body: html`${ART.gone}<h1>We couldn’t sign you in</h1>
<p class="lead">Go back to the app you came from and try again. If it keeps happening, send this message to the app’s support team:</p>
<p class="soft small"><code>${reason}</code></p>`,
  };
}

function formatWait(seconds: number): string {
  return seconds <= 90 ? 'a minute' : `${Math.ceil(seconds / 60)} minutes`;
}
