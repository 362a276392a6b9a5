import { type Causeway, createCauseway } from '../client.ts';
import type { CausewayOptions } from '../request.ts';
import { throwAsCausewayError } from './client-error.ts';
import type { HasHeaders } from './cookies.ts';
import type { Session } from './session.ts';
import type { SignIn } from './sign-in.ts';

export type UserClientOptions = Omit<CausewayOptions, 'accessToken'>;

export type UserClient = {
  causeway: Causeway;
  session: Session;
  /** Add these headers to your response after the last call. They contain `set-cookie` if the session was renewed. */
  headers: Headers;
};

/**
 * Creates a server-side client that acts for the user who sent the request. Returns undefined if no user is signed in.
 *
 * @example
 * ```ts
 * import { type SignIn, userClient } from '@causeway/sdk/server';
 *
 * export async function listOffers(signIn: SignIn, request: Request): Promise<Response> {
 *   const user = await userClient(signIn, request, { baseUrl: 'http://127.0.0.1:8080' });
 *   if (user === undefined) return Response.redirect('http://localhost:3000/causeway/sign-in', 303);
 *   const offers = await user.causeway.offers.list();
 *   return Response.json(offers, { headers: user.headers });
 * }
 * ```
 */
export async function userClient(
  signIn: SignIn,
  request: HasHeaders,
  options: UserClientOptions,
): Promise<UserClient | undefined> {
  const session = await signIn.store.load(request);
  if (session === undefined) return undefined;
  const headers = new Headers();
  let current = session;
  const accessToken = async ({ refresh }: { refresh: boolean }) => {
    const fresh = await (refresh ? signIn.refresh(current) : signIn.fresh(current)).catch(
      throwAsCausewayError,
    );
    if (fresh.refreshedAt !== current.refreshedAt) {
      headers.delete('set-cookie');
      await signIn.store.save(request, headers, fresh);
    }
    current = fresh;
    return fresh.accessToken;
  };
  return { causeway: createCauseway({ ...options, accessToken }), session, headers };
}
