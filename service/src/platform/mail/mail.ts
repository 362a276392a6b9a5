import { html } from '../../kernel/html.ts';
import type { Catalogue, Locale, MessageName, MessageValues } from './catalogue.ts';
import { de } from './catalogue-de.ts';
import { en } from './catalogue-en.ts';

/** A mail. `html` and `text` have the same content. `text` contains the URL of each link. */
export type Mail = {
  to: string;
  subject: string;
  text: string;
  html?: string;
  headers?: Record<string, string>;
};

/** The interface to a mail server. */
export type Mailer = {
  /**
   * Rejects if the server did not accept it. `id` is the same on every attempt, so that recipients can drop
   * duplicates.
   */
  send(id: string, mail: Mail): Promise<void>;
  close(): void;
};

const CATALOGUES: Record<Locale, Catalogue> = { en, de };

type MessageOptions = {
  unsubscribeUrl?: string;
};

/** Renders the message `name` in the language `locale`, as text and as HTML. */
export function composeMail<N extends MessageName>(
  to: string,
  locale: Locale,
  name: N,
  values: MessageValues[N],
  { unsubscribeUrl }: MessageOptions = {},
): Mail {
  const catalogue = CATALOGUES[locale];
  const { subject, before, link, after = [] } = catalogue.messages[name](values);
  const linkText = link === undefined ? [] : [`${link.label}:\n${link.url}`];
  const unsubscribe = unsubscribeUrl === undefined ? [] : [`${catalogue.unsubscribe}:\n${unsubscribeUrl}`];
  const paragraphs = (lines: readonly string[]) =>
    lines.map((line) => html`<p style="margin:0 0 16px">${line}</p>\n`);
  const page = html`<!doctype html>
<html lang="${locale}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${subject}</title></head>
<body style="margin:0;padding:24px;background:#f5f7f8;color:#0f1d22;font:16px/1.5 system-ui,sans-serif">
<div style="max-width:520px;margin:0 auto;padding:24px;background:#fff;border-radius:12px">
<h1 style="margin:0 0 16px;font-size:20px">${subject}</h1>
${paragraphs(before)}${
  link !== undefined &&
  html`<p style="margin:0 0 16px"><a href="${link.url}" style="display:inline-block;padding:10px 16px;border-radius:8px;background:#0b5c66;color:#fff;text-decoration:none">${link.label}</a></p>
<p style="margin:0 0 16px;font-size:13px;color:#51616a;word-break:break-all">${link.url}</p>\n`
}${paragraphs(after)}<p style="margin:0;color:#51616a">Causeway</p>
</div>${
    unsubscribeUrl !== undefined &&
    html`\n<p style="max-width:520px;margin:16px auto 0;font-size:13px;color:#51616a"><a href="${unsubscribeUrl}" style="color:inherit">${catalogue.unsubscribe}</a></p>`
  }
</body>
</html>
`;
  return {
    ...{ to, subject, html: page.markup },
    text: `${[...before, ...linkText, ...after, 'Causeway', ...unsubscribe].join('\n\n')}\n`,
    ...(unsubscribeUrl !== undefined && {
      // RFC 8058: the mail program unsubscribes with one POST request.
      headers: {
        'List-Unsubscribe': `<${unsubscribeUrl}>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    }),
  };
}
