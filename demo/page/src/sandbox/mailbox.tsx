import { useEffect } from 'react';
import { useApp } from '../app-context.tsx';
import { type Email, markRead, useMailbox } from './emails.ts';

/** Shows the sandbox's emails, which are never actually sent. */
export function Mailbox() {
  const { session } = useApp();
  const { emails, isFailing } = useMailbox();
  useEffect(markRead, [emails]);
  return (
    <>
      <p className="soft">
        {session.signed_in
          ? `Emails to ${session.user?.email ?? 'you'}. They never leave this machine.`
          : 'Emails to every sandbox user. They never leave this machine.'}
      </p>
      {isFailing && (
        <p className="notice warn" role="alert">
          We can't load the mailbox right now. We'll keep trying.
        </p>
      )}
      {emails === null ? (
        <div role="status" aria-label="Loading">
          <span className="bone wide" />
        </div>
      ) : emails.length === 0 ? (
        <p>No mail yet. Email confirmations and forms to sign arrive here.</p>
      ) : (
        <ol className="mails">
          {emails.map((email) => (
            <EmailItem key={`${email.sent_at} ${email.to} ${email.subject}`} email={email} />
          ))}
        </ol>
      )}
    </>
  );
}

function EmailItem({ email: { to, subject, text, links, sent_at } }: { email: Email }) {
  const [first] = links;
  return (
    <li>
      <header>
        <h3>{subject}</h3>
        <time dateTime={sent_at}>{new Date(sent_at).toLocaleTimeString('en-GB')}</time>
      </header>
      <p className="soft">To {to}</p>
      <details>
        <summary>Read</summary>
        <p className="mail-text">{text.trim()}</p>
      </details>
      {first !== undefined && (
        <a className="button small" href={first} target="_blank" rel="noreferrer">
          Open link
        </a>
      )}
    </li>
  );
}
