import { createTransport } from 'nodemailer';
import type { Mailer } from './mail.ts';

const TIMEOUT = 10_000;

/** Sends through an SMTP server (`smtp://` or `smtps://`, credentials in the URL). */
export function smtpMailer(url: string, from: string): Mailer {
  const transport = createTransport({
    url,
    connectionTimeout: TIMEOUT,
    greetingTimeout: TIMEOUT,
    socketTimeout: TIMEOUT,
    dnsTimeout: TIMEOUT,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const host = from.replace(/>$/, '').split('@').at(-1) ?? 'localhost';
  return {
    send: async (id, { to, subject, text }) => {
      // As an object, so that nothing in the address can add a second recipient.
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        subject,
        text,
        messageId: `<${id}@${host}>`,
      });
    },
    close: () => transport.close(),
  };
}
