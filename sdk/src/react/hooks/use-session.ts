import { useCallback, useEffect } from 'react';
import { fetchFromApp } from '../../app-request.ts';
import { type CausewayError, errorOfReply } from '../../error.ts';
import type { Query } from '../../queries.ts';
import { useCausewayContext } from '../context.ts';
import { useQuery } from './use-query.ts';

/** The signed-in user. Both fields are null if the `openid` scope was not granted. */
export type SessionUser = { id: string | null; email: string | null };

export type SessionResult = {
  /** `error` means that the app's server could not tell who is signed in; `refresh` asks again. */
  status: 'loading' | 'signed_in' | 'signed_out' | 'error';
  user: SessionUser | undefined;
  /** The granted scopes, separated by spaces. */
  scope: string | undefined;
  error: CausewayError | undefined;
  refresh(): Promise<void>;
  /** Ends the session, revokes its tokens and opens `returnTo`, a path in your app. The browser leaves the page. */
  signOut(options?: { returnTo?: string | undefined }): void;
};

type SessionReply = { signed_in: boolean; user?: SessionUser; scope?: string };

const SESSION_TIMEOUT_MS = 15_000;

function sessionQuery(prefix: string): Query<SessionReply> {
  return {
    key: `session:${prefix}`,
    load: async (_client, signal) => {
      const reply = await fetchFromApp({
        ...{ url: `${prefix}/session`, endpoint: 'session', timeoutMs: SESSION_TIMEOUT_MS, signal },
      });
      const body = (await reply.json().catch(() => undefined)) as SessionReply | undefined;
      if (!reply.ok || typeof body?.signed_in !== 'boolean')
        throw errorOfReply(reply.status, body, reply.headers);
      return body;
    },
  };
}

/** Returns the URL that ends the session when a form is posted to it. */
export function signOutUrl(prefix: string, returnTo = '/'): string {
  return `${prefix}/sign-out?${new URLSearchParams({ return_to: returnTo })}`;
}

/**
 * Returns who is signed in, according to the app's own server (`createHandler`). Reloads the page if a different user
 * has signed in, because the page still has the previous user's data and token.
 *
 * @example
 * ```tsx
 * import { useSession } from '@causeway/sdk/react';
 *
 * function Greeting() {
 *   const { status, user, signOut } = useSession();
 *   if (status !== 'signed_in') return null;
 *   return <button type="button" onClick={() => signOut()}>Sign out {user?.email}</button>;
 * }
 * ```
 */
export function useSession(): SessionResult {
  const { prefix, lastUser } = useCausewayContext();
  const { data, error, refresh } = useQuery(sessionQuery(prefix));
  const userId = data?.signed_in ? (data.user?.id ?? undefined) : undefined;
  useEffect(() => {
    if (userId === undefined) return;
    if (lastUser.current !== undefined && lastUser.current !== userId) location.reload();
    lastUser.current = userId;
  }, [userId, lastUser]);
  const signOut = useCallback<SessionResult['signOut']>(
    ({ returnTo } = {}) => {
      const form = document.createElement('form');
      form.method = 'post';
      form.action = signOutUrl(prefix, returnTo);
      document.body.append(form);
      form.submit();
    },
    [prefix],
  );
  return { status: statusOf(data, error), user: data?.user, scope: data?.scope, error, refresh, signOut };
}

function statusOf(data: SessionReply | undefined, error: CausewayError | undefined): SessionResult['status'] {
  if (data !== undefined) return data.signed_in ? 'signed_in' : 'signed_out';
  return error === undefined ? 'loading' : 'error';
}
