import type { Session } from './session.ts';
import { SignInError } from './sign-in-error.ts';

export type Renewal = {
  /**
   * Returns the session, after renewing it if its token expires soon. If the service has rejected the token, pass
   * `force` to renew the session now. Forced renewals happen at most once per `MIN_FORCED_INTERVAL_MS`.
   */
  fresh(session: Session, force?: boolean): Promise<Session>;
  /**
   * Returns the newest version of the session that this process has seen. The browser may still have an older version,
   * if the response with the new one was lost.
   */
  newest(session: Session): Session;
  forget(session: Session): void;
};

/** Tokens are renewed this long before they expire, so that they do not expire during a request. */
const EXPIRY_MARGIN_MS = 60_000;
/**
 * The minimum time between forced renewals. Without this minimum, a page that requests tokens in a loop could use up
 * the partner's rate limit.
 */
const MIN_FORCED_INTERVAL_MS = 10_000;
const MAX_REMEMBERED_SESSIONS = 10_000;

/**
 * Creates a `Renewal` that runs one renewal at a time per session in this process. Other processes may renew the same
 * session concurrently. This is safe, because the service replaces a refresh token only after 70% of its lifetime, and
 * accepts the replaced token for 30 more seconds.
 */
export function createRenewal(now: () => number, renew: (session: Session) => Promise<Session>): Renewal {
  const inFlight = new Map<string, Promise<Session>>();
  const remembered = new Map<string, Session>();

  const newest = (session: Session) => {
    const other = remembered.get(session.id);
    return other !== undefined && other.refreshedAt > session.refreshedAt ? other : session;
  };
  const start = (session: Session) => {
    const renewal = renew(session)
      .then((renewed) => remember(remembered, renewed))
      .finally(() => inFlight.delete(session.id));
    inFlight.set(session.id, renewal);
    return renewal;
  };

  return {
    newest,
    forget: ({ id }) => void remembered.delete(id),
    fresh: async (given, force = false) => {
      const running = inFlight.get(given.id);
      if (running !== undefined) return running;
      const session = newest(given);
      const isExpiring = session.expiresAt - EXPIRY_MARGIN_MS <= now();
      const mayForce = force && session.refreshedAt + MIN_FORCED_INTERVAL_MS <= now();
      if (!isExpiring && !mayForce) return session;
      try {
        return await start(session);
      } catch (error) {
        const code = error instanceof SignInError ? error.code : undefined;
        if (code === 'not_signed_in') remembered.delete(session.id);
        // If the service is unavailable, returns the session unchanged, unless its token has expired or was rejected
        // (`force`).
        if (code === 'unavailable' && !force && session.expiresAt > now()) return session;
        throw error;
      }
    },
  };
}

function remember(sessions: Map<string, Session>, session: Session): Session {
  sessions.delete(session.id);
  sessions.set(session.id, session);
  const [oldest] = sessions.keys();
  if (sessions.size > MAX_REMEMBERED_SESSIONS && oldest !== undefined) sessions.delete(oldest);
  return session;
}
