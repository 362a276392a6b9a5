import { createTransport } from 'nodemailer';
import type { Config } from '../../kernel/config/config.ts';
import type { Mailer } from './mail.ts';

const TIMEOUT_MS = 10_000;

/**
 * The URL contains the credentials. If `tls` is `required`, refuses an `smtp://` server without STARTTLS, because
 * mails contain secrets such as password reset links.
 */
export function smtpMailer(
  url: string,
  from: string,
  tls: Config['smtpTls'],
  timeoutMs = TIMEOUT_MS,
): Mailer {
  const transport = openTransport(url, tls, timeoutMs);
  const host = from.replace(/>$/, '').split('@').at(-1) ?? 'localhost';
  return {
    send: async (id, { to, ...content }) => {
      // Passes the recipient as an object, because a string could contain a second recipient.
      await transport.sendMail({
        from,
        to: { name: '', address: to },
        ...content,
        messageId: `<${id}@${host}>`,
      });
    },
    close: () => transport.close(),
  };
}

export async function verifySmtp(url: string, tls: Config['smtpTls']): Promise<void> {
  const transport = openTransport(url, tls);
  try {
    await transport.verify();
  } finally {
    transport.close();
  }
}

function openTransport(url: string, tls: Config['smtpTls'], timeoutMs = TIMEOUT_MS) {
  return createTransport({
    url,
    requireTLS: tls === 'required',
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    dnsTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}
