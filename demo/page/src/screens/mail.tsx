import { useEffect, useState } from 'react';
import { useApp } from '../app-context.tsx';
import { loadJson } from '../config.ts';
import { useTitle } from '../route.tsx';

type Mail = { to: string; subject: string; text: string; links: string[]; sent_at: string };
const EVERY = 3_000;

/** In the sandbox mails go no further than this page. */
export function MailScreen() {
  const { session } = useApp();
  const { mails, isFailing } = useMails();
  useTitle('Mail');
  return (
    <>
      <div className="screen-head">
        <h1>Mail</h1>
        <p className="soft">
          {session.signed_in
            ? `What would have been sent to ${session.user?.email ?? 'you'}.`
            : 'What the sandbox would have sent, to anybody.'}{' '}
          New ones appear by themselves.
        </p>
      </div>
      {isFailing && (
        <p className="notice warn" role="alert">
          The mailbox cannot be read at the moment; this page tries again.
        </p>
      )}
      {mails === null ? (
        <div className="panel" role="status" aria-label="Loading">
          <span className="bone" />
          <span className="bone wide" />
        </div>
      ) : mails.length === 0 ? (
        <div className="empty-state">
          <h2>No mail yet</h2>
          <p>Confirmations of your address and forms to sign arrive here.</p>
        </div>
      ) : (
        <ol className="mails">
          {mails.map((mail) => (
            <MailItem key={`${mail.sent_at} ${mail.to} ${mail.subject}`} mail={mail} />
          ))}
        </ol>
      )}
    </>
  );
}

function useMails() {
  const [mails, setMails] = useState<Mail[] | null>(null);
  const [isFailing, setFailing] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isGone = false;
    const read = async () => {
      try {
        const { data } = await loadJson<{ data: Mail[] }>('/sandbox/mail');
        if (isGone) return;
        setMails(data.slice(0, 50));
        setFailing(false);
      } catch {
        if (!isGone) setFailing(true);
      }
      if (!isGone) timer = setTimeout(read, EVERY);
    };
    void read();
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, []);
  return { mails, isFailing };
}

function MailItem({ mail: { to, subject, text, links, sent_at } }: { mail: Mail }) {
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
          Open the link
        </a>
      )}
    </li>
  );
}
