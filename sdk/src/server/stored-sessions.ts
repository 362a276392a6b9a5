import { createHash } from 'node:crypto';
import { cookieName, cookiesOf, type HasHeaders, writeCookie } from './cookies.ts';
import { createSeal } from './seal.ts';
import { DEFAULT_MAX_AGE_S, hideTokens, type Session, type SessionStore } from './session.ts';
import type { SessionStorage } from './session-storage.ts';

type Options = { secret: string | readonly string[]; secure: boolean; now: () => number };

const SESSION_ID = /^[\w-]{43}$/;

/** Keeps sessions in storage on the server. The browser's cookie contains only the session id, never a token. */
export function storedSessions(storage: SessionStorage, { secret, secure, now }: Options): SessionStore {
  const name = cookieName('causeway_session', secure);
  const { seal, open } = createSeal(secret);
  const idOf = (request: HasHeaders) => {
    const id = cookiesOf(request).get(name);
    return id !== undefined && SESSION_ID.test(id) ? id : undefined;
  };
  return {
    load: async (request) => {
      const id = idOf(request);
      if (id === undefined) return undefined;
      const key = keyOf(id);
      const value = await storage.read(key);
      const session = value === undefined ? undefined : (open(key, value, now()) as Session | undefined);
      return session?.id === id ? hideTokens(session) : undefined;
    },
    save: async (request, reply, session) => {
      const previous = idOf(request);
      const key = keyOf(session.id);
      const value = seal(key, session, now() + DEFAULT_MAX_AGE_S * 1000);
      if (previous === session.id) await storage.update(key, value, DEFAULT_MAX_AGE_S);
      else await storage.write(key, value, DEFAULT_MAX_AGE_S);
      // A new sign-in in this browser replaces the earlier session.
      if (previous !== undefined && previous !== session.id) await storage.delete(keyOf(previous));
      reply.append('set-cookie', writeCookie(name, session.id, { secure, maxAge: DEFAULT_MAX_AGE_S }));
    },
    clear: async (request, reply) => {
      reply.append('set-cookie', writeCookie(name, '', { secure, maxAge: 0 }));
      const id = idOf(request);
      if (id !== undefined) await storage.delete(keyOf(id));
    },
  };
}

function keyOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}
