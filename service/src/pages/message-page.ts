import type { ApiError, ErrorCode } from '../errors.ts';
import { html } from './html.ts';
import type { Page } from './layout.ts';

type Message = { title: string; text: string; action?: { label: string; href: string }; eventId?: string };

/** One thing said, and at most one thing to do. */
export function messagePage({ title, text, action, eventId }: Message): Page {
  return {
    title,
    body: html`<h1>${title}</h1>
<p class="lead">${text}</p>
${action !== undefined && html`<p><a class="button" href="${action.href}">${action.label}</a></p>`}
${eventId !== undefined && html`<p class="soft small">If you ask for help, quote <code>${eventId}</code></p>`}`,
  };
}

const TITLES: Partial<Record<ErrorCode, string>> = {
  forged_form: 'Please try again',
  rate_limited: 'Too many attempts',
  not_found: 'Nothing here',
  validation_failed: 'This form was not accepted',
};

/** A failure in words for whoever sits at the browser. */
export function errorPage(error: ApiError, eventId: string): Page {
  const title = TITLES[error.code] ?? 'That did not work';
  const wait = error.headers['retry-after'];
  const text =
    error.code === 'rate_limited' ? `Wait ${waitWords(Number(wait ?? 60))} and try again.` : error.message;
  return messagePage({ title, text, eventId });
}

/** For a sign-in that cannot be sent back to the app: who asked is unknown, or where to answer. */
export function signInFailedPage(reason: string): Page {
  return {
    title: 'This sign-in cannot go on',
    body: html`<h1>This sign-in cannot go on</h1>
<p class="lead">Go back to the app that sent you here and start again. If it happens again, tell the people who run that app:</p>
<p class="soft small"><code>${reason}</code></p>`,
  };
}

function waitWords(seconds: number): string {
  return seconds <= 90 ? 'a minute' : `${Math.ceil(seconds / 60)} minutes`;
}
