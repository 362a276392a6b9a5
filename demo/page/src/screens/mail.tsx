import { useEffect, useState } from 'react';
import { useApp } from '../app-context.tsx';
import { loadJson } from '../config.ts';
import { useTitle } from '../route.tsx';

type Email = { to: string; subject: string; text: string; links: string[]; sent_at: string };
const POLL_INTERVAL_MS = 3_000;
const MAX_EMAILS = 50;

/** Shows the sandbox's emails, which are never actually sent. */
export function MailScreen() {
  const { session } = useApp();
  const { emails, isFailing } = useEmails();
  useTitle('Mail');
  return (
    <>
      <div className="screen-head">
        <h1>Mail</h1>
        <p className="soft">
          {session.signed_in
            ? `Emails to ${session.user?.email ?? 'you'}. Nothing is really sent.`
            : 'Emails to every sandbox user. Nothing is really sent.'}{' '}
          New ones appear automatically.
        </p>
      </div>
      {isFailing && (
        <p className="notice warn" role="alert">
          We can't load the mailbox right now. We'll keep trying.
        </p>
      )}
      {emails === null ? (
        <div className="panel" role="status" aria-label="Loading">
          <span className="bone" />
          <span className="bone wide" />
        </div>
      ) : emails.length === 0 ? (
        <div className="empty-state">
          <h2>No mail yet</h2>
          <p>Email confirmations and forms to sign arrive here.</p>
        </div>
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

function useEmails() {
  const [emails, setEmails] = useState<Email[] | null>(null);
  const [isFailing, setFailing] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isUnmounted = false;
    const poll = async () => {
      try {
        const { data } = await loadJson<{ data: Email[] }>('/sandbox/mail');
        if (isUnmounted) return;
        setEmails(data.slice(0, MAX_EMAILS));
        setFailing(false);
      } catch {
        if (!isUnmounted) setFailing(true);
      }
      if (!isUnmounted) timer = setTimeout(poll, POLL_INTERVAL_MS);
    };
    void poll();
    return () => {
      isUnmounted = true;
      clearTimeout(timer);
    };
  }, []);
  return { emails, isFailing };
}

function EmailItem({ email: { to, subject, text, links, sent_at } }: { email: Email }) {
  const [first] = links;
  return (
    <li className="panel">
      <header>
        <h2>{subject}</h2>
        <time dateTime={sent_at}>{new Date(sent_at).toLocaleString()}</time>
      </header>
      <p className="soft">To {to}</p>
      <p className="mail-text">{text.trim()}</p>
      {first !== undefined && (
        <a className="button" href={first} target="_blank" rel="noreferrer">
          Open link
        </a>
      )}
    </li>
  );
}
