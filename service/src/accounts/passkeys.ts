import { isIP } from 'node:net';
import {
  type AuthenticationResponseJSON,
  generateAuthenticationOptions,
  generateRegistrationOptions,
  type RegistrationResponseJSON,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server';
import type { Context } from '../context.ts';
import { newId } from '../http/ids.ts';
import { sendMail } from '../mail/outbox.ts';
import { passkeyAddedMail } from './mails.ts';
import {
  consumeChallenge,
  findPasskey,
  insertChallenge,
  insertPasskey,
  listCredentialIds,
  touchPasskey,
} from './passkey-store.ts';
import { startSession } from './sessions.ts';
import type { User } from './store.ts';

/** WebAuthn knows names only: on a bare IP address browsers refuse it. */
export function hasPasskeys({ baseUrl }: Context): boolean {
  return isIP(rpIdOf(baseUrl).replace(/^\[|\]$/g, '')) === 0;
}

/** What the browser needs to make a passkey for a signed-in user. */
export async function offerPasskey(ctx: Context, browser: string, user: User) {
  const known = await listCredentialIds(ctx.db, user.id);
  const options = await generateRegistrationOptions({
    rpName: 'Causeway',
    rpID: rpIdOf(ctx.baseUrl),
    userName: user.email,
    userDisplayName: user.email,
    userID: new Uint8Array(Buffer.from(user.id)),
    challenge: new Uint8Array(ctx.random(32)),
    excludeCredentials: known.map((id) => ({ id: id.toString('base64url') })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
  await insertChallenge(ctx.db, options.challenge, 'add', browser);
  return options;
}

/** False when the answer is not one to a challenge of ours, or the passkey is known already. */
export async function addPasskey(
  ctx: Context,
  browser: string,
  user: User,
  response: unknown,
): Promise<boolean> {
  if (!isCredential(response)) return false;
  const challenge = readChallenge(response);
  if (!(await consumeChallenge(ctx.db, challenge, 'add', browser))) return false;
  const verified = await attempt(() =>
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
    name: verified.registrationInfo.credentialBackedUp ? 'Synced passkey' : 'Passkey on one device',
  };
  return ctx.db.transaction().execute(async (tx) => {
    const added = await insertPasskey(tx, passkey);
    if (added) await sendMail(ctx, tx, passkeyAddedMail(ctx, user.email));
    return added;
  });
}

export async function challengePasskey(ctx: Context, browser: string) {
  const options = await generateAuthenticationOptions({
    rpID: rpIdOf(ctx.baseUrl),
    challenge: new Uint8Array(ctx.random(32)),
    userVerification: 'required',
  });
  await insertChallenge(ctx.db, options.challenge, 'sign_in', browser);
  return options;
}

/** The new cookie, or null for any answer that is not of a known passkey to a fresh challenge. */
export async function signInWithPasskey(
  ctx: Context,
  browser: string,
  response: unknown,
): Promise<string | null> {
  if (!isCredential(response)) return null;
  const answer = response as AuthenticationResponseJSON;
  const passkey = await findPasskey(ctx.db, Buffer.from(answer.id, 'base64url'));
  const challenge = readChallenge(answer);
  if (!(await consumeChallenge(ctx.db, challenge, 'sign_in', browser)) || passkey === undefined) return null;
  const verified = await attempt(() =>
    verifyAuthenticationResponse({
      response: answer,
      expectedChallenge: challenge,
      expectedOrigin: originOf(ctx.baseUrl),
      expectedRPID: rpIdOf(ctx.baseUrl),
      requireUserVerification: true,
      credential: {
        id: answer.id,
        publicKey: new Uint8Array(passkey.public_key),
        counter: Number(passkey.sign_count),
        transports: passkey.transports,
      },
    }),
  );
  if (!verified?.verified) return null;
  return ctx.db.transaction().execute(async (tx) => {
    await touchPasskey(tx, passkey.id, verified.authenticationInfo.newCounter);
    return startSession(ctx, tx, browser, passkey.user_id, 'passkey');
  });
}

/** The library throws for whatever is wrong with an answer. */
async function attempt<T>(verify: () => Promise<T>): Promise<T | null> {
  try {
    return await verify();
  } catch {
    return null;
  }
}

/** The challenge that the browser says it answers: used up before anything is verified, so that it serves once. */
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
