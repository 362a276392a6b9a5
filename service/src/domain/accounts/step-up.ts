import type { Context } from '../../platform/context/context.ts';
import type { PageSignIn } from '../../platform/context/ports.ts';
import { AMR, contextsOf, meetsAcr } from '../oauth/acr.ts';
import { listPasskeys } from './passkey-store.ts';
import { passkeyUrl, supportsPasskeys } from './passkeys.ts';
import { hasSecondFactor } from './second-factor.ts';
import type { Authentication, Session } from './sessions.ts';

/** Returns the `amr` values of an authentication. */
export function amrOf({ method, secondFactor }: Authentication): string[] {
  if (method === 'passkey') return [...AMR.passkey];
  return secondFactor === null ? [...AMR.password] : [...AMR.code];
}

export function signInOf(session: Session): PageSignIn {
  const at = Math.floor(Date.parse(session.signed_in_at) / 1000);
  return { userId: session.user.id, at, amr: amrOf(session) };
}

/**
 * Returns whether the user has a sign-in method that meets one of the requested authentication contexts (`acr_values`).
 */
export async function canStepUp(
  ctx: Pick<Context, 'db' | 'config' | 'baseUrl'>,
  userId: string,
  requested: readonly string[],
): Promise<boolean> {
  const isRequested = (amr: readonly string[]) =>
    contextsOf(amr).some((context) => requested.includes(context));
  const hasPasskeys = supportsPasskeys(ctx) || passkeyUrl(ctx, '/') !== null;
  if (isRequested(AMR.passkey) && hasPasskeys && (await listPasskeys(ctx.db, userId)).length > 0) return true;
  return isRequested(AMR.code) && (await hasSecondFactor(ctx.db, userId));
}

/**
 * Returns whether the user must sign in again with a stronger method. That is the case if the session does not meet the
 * requested authentication contexts, but another of the user's sign-in methods would.
 */
export async function needsStepUp(
  ctx: Pick<Context, 'db' | 'config' | 'baseUrl'>,
  session: Session,
  requested: readonly string[],
): Promise<boolean> {
  return !meetsAcr(amrOf(session), requested) && (await canStepUp(ctx, session.user.id, requested));
}
