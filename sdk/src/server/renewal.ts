import type { Session } from './session.ts';
import { SignInError } from './sign-in-error.ts';

export type Renewal = {
  /** The session with tokens that will last a moment; `force` when the service has refused the present one. */
  fresh(session: Session, force?: boolean): Promise<Session>;
  /** The newest state of a session that this process knows, so that a browser which missed a reply goes on from there. */
  newest(session: Session): Session;
  forget(session: Session): void;
};

/** A token is replaced so long before its end: time for the request that it is meant for. */
const BEFORE_END = 60_000;
/** A browser that asks again and again must not spend the partner's budget of token requests. */
const BETWEEN_FORCED = 10_000;
const MAX_REMEMBERED = 10_000;

/**
 * One renewal at a time per session in this process. Two processes may renew at once: the service replaces a refresh
 * token only near its end, and honours the replaced one for half a minute.
 */
export function createRenewal(now: () => number, renew: (session: Session) => Promise<Session>): Renewal {
  const running = new Map<string, Promise<Session>>();
  const known = new Map<string, Session>();

  const newest = (session: Session) => {
    const other = known.get(session.id);
    return other !== undefined && other.refreshedAt > session.refreshedAt ? other : session;
  };
  const start = (session: Session) => {
    const done = renew(session)
      .then((renewed) => remember(known, renewed))
      .finally(() => running.delete(session.id));
    running.set(session.id, done);
    return done;
  };

  return {
    newest,
    forget: ({ id }) => void known.delete(id),
    fresh: async (given, force = false) => {
      const inFlight = running.get(given.id);
      if (inFlight !== undefined) return inFlight;
      const session = newest(given);
      const isOld = session.expiresAt - BEFORE_END <= now();
      if (!isOld && !(force && session.refreshedAt + BETWEEN_FORCED <= now())) return session;
      try {
        return await start(session);
      } catch (error) {
        if (error instanceof SignInError && error.code === 'not_signed_in') known.delete(session.id);
        // While the service is away the present token may still do.
        if (
          error instanceof SignInError &&
          error.code === 'unavailable' &&
          !force &&
          session.expiresAt > now()
        )
          return session;
        throw error;
      }
    },
  };
}

function remember(known: Map<string, Session>, session: Session): Session {
  known.delete(session.id);
  known.set(session.id, session);
  const [oldest] = known.keys();
  if (known.size > MAX_REMEMBERED && oldest !== undefined) known.delete(oldest);
  return session;
}
