import { useEffect } from 'react';
import { loadJson } from '../config.ts';
import { createStore, useStore } from '../store.ts';

export type Email = { to: string; subject: string; text: string; links: string[]; sent_at: string };

type Mailbox = { emails: readonly Email[] | null; isFailing: boolean };

const POLL_INTERVAL_MS = 4_000;
const MAX_EMAILS = 50;
const SEEN_KEY = 'harbour.mail-seen';

const mailbox = createStore<Mailbox>({ emails: null, isFailing: false });
const seen = createStore(localStorage.getItem(SEEN_KEY) ?? new Date().toISOString());

export function useMailbox(): Mailbox {
  return useStore(mailbox);
}

/** Returns how many emails have arrived since the mailbox was last open. */
export function useUnreadCount(): number {
  const since = useStore(seen);
  const { emails } = useMailbox();
  return emails?.filter(({ sent_at }) => sent_at > since).length ?? 0;
}

export function markRead(): void {
  const newest = mailbox.get().emails?.[0]?.sent_at;
  if (newest === undefined || newest <= seen.get()) return;
  localStorage.setItem(SEEN_KEY, newest);
  seen.set(newest);
}

/** Polls the sandbox's mail while the page is visible. */
export function usePolledMail(): void {
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    let isUnmounted = false;
    const poll = async () => {
      if (!document.hidden)
        try {
          const { data } = await loadJson<{ data: Email[] }>('/sandbox/mail');
          if (!isUnmounted) mailbox.set({ emails: data.slice(0, MAX_EMAILS), isFailing: false });
        } catch {
          if (!isUnmounted) mailbox.set({ ...mailbox.get(), isFailing: true });
        }
      if (!isUnmounted) timer = setTimeout(poll, POLL_INTERVAL_MS);
    };
    void poll();
    return () => {
      isUnmounted = true;
      clearTimeout(timer);
    };
  }, []);
}
