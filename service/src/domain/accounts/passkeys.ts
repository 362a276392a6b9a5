import { isIP } from 'node:net';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { ApiError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { Closed } from '../../kernel/wire.ts';
import { recordFailedSignIn } from '../../platform/audit/store.ts';
import type { Context } from '../../platform/context/context.ts';
import { forNetwork, forRequest } from '../../platform/http/for-request.ts';
import { pluginHooks } from '../../platform/http/request-log.ts';
import { localhostUrl, visitedUrl } from '../../platform/http/visited-url.ts';
import { composeMail } from '../../platform/mail/mail.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { pageHeaders } from '../../platform/pages/headers.ts';
import { lockAccount, type User } from '../users/store.ts';
import { localeOf } from '../users/user.ts';
import { type Browser, checkCsrf, identifyBrowser, setCookie } from './browser.ts';
import {
  consumeChallenge,
  findPasskey,
  insertChallenge,
  insertPasskey,
  listCredentialIds,
  touchPasskey,
} from './passkey-store.ts';
import type { Session } from './session-store.ts';
import { lockSession, startSession } from './sessions.ts';
import { parseReturnPath } from './sign-in-request.ts';
import { noteSignIn, throttleNetwork } from './throttle.ts';

/** WebAuthn requires a domain name: browsers reject passkeys on a bare IP address. */
export function supportsPasskeys({ baseUrl }: Pick<Context, 'baseUrl'>): boolean {
  return isIP(rpIdOf(baseUrl).replace(/^\[|\]$/g, '')) === 0;
}

/** Returns the URL of `path` on localhost if passkeys work there but not on this host. */
export function passkeyUrl(ctx: Pick<Context, 'config' | 'baseUrl'>, path: string): string | null {
  const localhost = supportsPasskeys(ctx) ? null : localhostUrl(ctx);
  return localhost === null ? null : localhost + path;
}

export async function addPasskeyOptions(ctx: Context, cookie: string, user: User) {
  const credentialIds = await listCredentialIds(ctx.db, user.id);
  const options = await generateRegistrationOptions({
    rpName: 'Causeway',
    rpID: rpIdOf(ctx.baseUrl),
    userName: user.email,
    userDisplayName: user.email,
    userID: new Uint8Array(Buffer.from(user.id)),
    challenge: new Uint8Array(ctx.random(32)),
    excludeCredentials: credentialIds.map((id) => ({ id: id.toString('base64url') })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  await insertChallenge(ctx.db, options.challenge, 'add', cookie);
  return options;
}

/** Returns false if the response is invalid, answers no pending challenge, or the passkey is already registered. */
export async function addPasskey(
  ctx: Context,
  cookie: string,
  session: Pick<Session, 'id' | 'user'>,
  response: unknown,
): Promise<boolean> {
  const { user } = session;
  if (!isCredential(response)) return false;
  const challenge = readChallenge(response);
  if (!(await consumeChallenge(ctx.db, challenge, 'add', cookie))) return false;
  const verified = await orNull(() =>
    verifyRegistrationResponse({
      response: response as RegistrationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: originOf(ctx.baseUrl),
      expectedRPID: rpIdOf(ctx.baseUrl),
      requireUserVerification: true,
    }),
  );
  if (!verified?.verified) return false;
  const { credential } = verified.registrationInfo;
  const passkey = {
    id: newId(ctx.clock, ctx.random),
    user_id: user.id,
    credential_id: Buffer.from(credential.id, 'base64url'),
    public_key: Buffer.from(credential.publicKey),
    sign_count: credential.counter,
    transports: credential.transports ?? [],
    name: verified.registrationInfo.credentialBackedUp ? 'Synced passkey' : 'Single-device passkey',
  };
  return ctx.db.transaction().execute(async (tx) => {
    await lockSession(tx, session);
    const added = await insertPasskey(tx, passkey);
    const url = `${ctx.baseUrl}/account`;
    if (added) await sendMail(ctx, tx, composeMail(user.email, localeOf(user), 'passkey_added', { url }));
    return added;
  });
}

export async function signInOptions(ctx: Context, cookie: string) {
  const options = await generateAuthenticationOptions({
    rpID: rpIdOf(ctx.baseUrl),
    challenge: new Uint8Array(ctx.random(32)),
    userVerification: 'required',
  });
  await insertChallenge(ctx.db, options.challenge, 'sign_in', cookie);
  return options;
}

/** Returns the new cookie if a registered passkey signed a fresh challenge, otherwise null. */
export async function signInWithPasskey(
  ctx: Context,
  { cookie, source }: Pick<Browser, 'cookie' | 'source'>,
  response: unknown,
): Promise<string | null> {
  if (!isCredential(response)) return null;
  const credential = response as AuthenticationResponseJSON;
  const passkey = await findPasskey(ctx.db, Buffer.from(credential.id, 'base64url'));
  const challenge = readChallenge(credential);
  if (!(await consumeChallenge(ctx.db, challenge, 'sign_in', cookie)) || passkey === undefined) return null;
  const verified = await orNull(() =>
    verifyAuthenticationResponse({
      response: credential,
      expectedChallenge: challenge,
      expectedOrigin: originOf(ctx.baseUrl),
      expectedRPID: rpIdOf(ctx.baseUrl),
      requireUserVerification: true,
      credential: {
        id: credential.id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: Number(passkey.sign_count),
        transports: passkey.transports,
      },
    }),
  );
  if (!verified?.verified) {
    await recordFailedSignIn(ctx.db, passkey.user_id);
    return null;
  }
  return ctx.db.transaction().execute(async (tx) => {
    const user = await lockAccount(tx, passkey.user_id);
    const isKnown = await touchPasskey(tx, passkey.id, verified.authenticationInfo.newCounter);
    if (user === undefined || !isKnown) return null;
    await noteSignIn(ctx, tx, user, source);
    const authentication = { method: 'passkey', secondFactor: null } as const;
    return startSession(ctx, tx, { cookie, source }, user.id, authentication);
  });
}

/** Returns null if `verify` throws. SimpleWebAuthn throws for most invalid responses. */
async function orNull<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}

/** Reads the challenge that the response claims to answer. Callers consume it before they verify the response. */
function readChallenge({ response }: { response: object }): string {
  try {
    const { clientDataJSON } = response as { clientDataJSON?: unknown };
    return String(JSON.parse(Buffer.from(String(clientDataJSON), 'base64url').toString()).challenge);
  } catch {
    return '';
  }
}

function isCredential(response: unknown): response is { id: string; response: object } {
  const { id, response: inner } = (response ?? {}) as { id?: unknown; response?: unknown };
  return (
    typeof id === 'string' &&
    /^[A-Za-z0-9_-]{1,1400}$/.test(id) &&
    typeof inner === 'object' &&
    inner !== null
  );
}

function rpIdOf(baseUrl: string): string {
  return new URL(baseUrl).hostname;
}

function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}

const OptionsRequest = Closed({ csrf: Type.String({ maxLength: 100 }) });
const CredentialRequest = Closed({
  csrf: Type.String({ maxLength: 100 }),
  next: Type.Optional(Type.String({ maxLength: 200 })),
  response: Type.Object({}, { additionalProperties: true }),
});

type Body = { csrf: string; next?: string; response?: unknown };
type Handle = (ctx: Context, browser: Browser, body: Body, reply: FastifyReply) => Promise<object>;

/** Registers the routes that `passkeys.js` calls: the options and the result of each WebAuthn ceremony. */
export function addPasskeyRoutes(app: FastifyInstance, ctx: Context): void {
  const post = (path: string, schema: typeof OptionsRequest | typeof CredentialRequest, handle: Handle) =>
    app.route({
      method: 'POST',
      url: path,
      config: { access: { who: 'public' } },
      schema: { body: schema },
      ...pluginHooks(ctx, 'POST', path),
      handler: (request, reply) => handleCall(ctx, request, reply, handle),
    });

  post('/passkeys/sign-in/options', OptionsRequest, (ctx, { cookie }) => signInOptions(ctx, cookie));
  post('/passkeys/sign-in', CredentialRequest, async (ctx, browser, { response, next }, reply) => {
    const newCookie = await signInWithPasskey(ctx, browser, response);
    if (newCookie === null) throw new ApiError('passkey_refused');
    setCookie(ctx, reply, newCookie);
    return { location: parseReturnPath(next) ?? '/account' };
  });
  post('/account/passkeys/options', OptionsRequest, (ctx, { cookie, session }) =>
    addPasskeyOptions(ctx, cookie, requireRecentSession(session).user),
  );
  post('/account/passkeys', CredentialRequest, async (ctx, { cookie, session }, { response }) => {
    if (!(await addPasskey(ctx, cookie, requireRecentSession(session), response)))
      throw new ApiError('passkey_refused');
    return { location: '/account?notice=passkey_added' };
  });
}

async function handleCall(
  ctx: Context,
  request: FastifyRequest,
  reply: FastifyReply,
  handle: Handle,
): Promise<object> {
  reply.headers(pageHeaders()).header('x-request-id', request.id);
  const own = { ...forNetwork(ctx, request), baseUrl: visitedUrl(ctx, request) };
  await throttleNetwork(own, request);
  const browser = await identifyBrowser(own, request, reply);
  const body = request.body as Body;
  checkCsrf(own, request, browser, body.csrf);
  return handle(forRequest(own, { id: request.id }), browser, body, reply);
}

/** Without this check, anyone could add a passkey in a browser that was left signed in. */
function requireRecentSession(session: Browser['session']): Session {
  if (session === null) throw new ApiError('unauthorized');
  if (!session.isRecent) throw new ApiError('recent_sign_in_required');
  return session;
}
