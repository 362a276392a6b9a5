import type { ApiError, ErrorCode } from '../../kernel/errors.ts';
import { type Html, html } from '../../kernel/html.ts';
import { ART, type ArtName, hiddenField, type Page } from './layout.ts';

type Message = {
  title: string;
  text: string;
  action?: { label: string; href: string };
  eventId?: string;
  art?: ArtName;
};

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

const TOPIC_LABELS = {
  verification: 'Identity checks and accreditation',
  acceptance: 'Accepted investments',
  forms: 'Forms to sign',
  reminders: 'Reminders before something expires',
} as const;
type Topic = keyof typeof TOPIC_LABELS;

const LANGUAGES = { en: 'English', de: 'Deutsch' } as const;

export type MailPreferences = { topics: readonly Topic[]; locale: keyof typeof LANGUAGES };

export function mailPreferences(csrf: string, { topics, locale }: MailPreferences): Html {
  const topicBox = ([topic, label]: [string, string]) =>
    html`<label class="choice"><input type="checkbox" name="${topic}" value="yes"${topics.some((each) => each === topic) && html` checked`}>${label}</label>`;
  const language = ([tag, name]: [string, string]) =>
    html`<label class="choice"><input type="radio" name="locale" value="${tag}"${locale === tag && html` checked`}>${name}</label>`;
  return html`<section aria-labelledby="mails"><h2 id="mails">Emails</h2>
<p class="soft">We always email you about sign-ins, completed investments and refunds. Choose what else you want to hear about.</p>
<form method="post" action="/account/emails">${hiddenField('csrf', csrf)}
<fieldset><legend>Topics</legend><div class="choices topics">${Object.entries(TOPIC_LABELS).map(topicBox)}</div></fieldset>
<fieldset><legend>Email language</legend><div class="choices">${Object.entries(LANGUAGES).map(language)}</div></fieldset>
<button class="quiet" type="submit">Save email settings</button></form></section>`;
}

/** Asks for confirmation before unsubscribing, because mail scanners open every link in an email. */
export function unsubscribePage(token: string, topic: Topic): Page {
  return {
    title: 'Turn off these emails',
    body: html`<h1>Turn off these emails</h1>
<p class="lead">We’ll stop emailing you about: <strong>${TOPIC_LABELS[topic]}</strong>.</p>
<form method="post" action="/unsubscribe?token=${token}"><button type="submit">Turn off</button></form>
<p class="after"><a href="/account">All email settings</a></p>`,
  };
}

export function unsubscribedPage(topic: Topic): Page {
  return messagePage({
    title: 'Emails turned off',
    text: `We no longer email you about: ${TOPIC_LABELS[topic]}. You can turn these emails back on in your account.`,
    action: { label: 'Your account', href: '/account' },
    art: 'done',
  });
}
