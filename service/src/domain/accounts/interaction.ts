import { recordDecision } from '../../platform/audit/store.ts';
import type { Context } from '../../platform/context/context.ts';
import type { Interaction, PageSignIn } from '../../platform/context/ports.ts';
import { consentPage } from '../../platform/pages/consent-page.ts';
import { messagePage } from '../../platform/pages/message-page.ts';
import { signInPage } from '../../platform/pages/sign-in-page.ts';
import { AMR, acrFor, contextsOf, MULTI_FACTOR, meetsAcr, readAcrValues } from '../oauth/acr.ts';
import type { PageHandler, PageRequest, PageResponse } from './page-route.ts';
import { listPasskeys } from './passkey-store.ts';
import { passkeyUrl, supportsPasskeys } from './passkeys.ts';
import { hasSecondFactor } from './second-factor.ts';
import type { Authentication, Session } from './session-store.ts';
import { describeSignInRequest, interactionPath } from './sign-in-request.ts';

const EXPIRED: PageResponse = {
  status: 400,
  page: messagePage({
    title: 'This sign-in has expired',
    text: 'Go back to the app you came from and try again.',
  }),
};

const MAX_EMAIL_LENGTH = 254;

/**
 * Continues an app's sign-in. Shows the sign-in page if the user must sign in (again). Otherwise redirects to continue
 * the app's request, or shows the consent page if the request has come to that step.
 */
export const showInteraction: PageHandler = async (ctx, { session, csrf }, request) => {
  const interaction = await openInteraction(ctx, request);
  if (interaction === null) return EXPIRED;
  const path = interactionPath(interaction.uid);
  const { app, logoUrl, formTargets } = await describeSignInRequest(ctx, interaction);
  const requested = readAcrValues(interaction.params.acr_values);
  const isStepUp = session !== null && (await needsStepUp(ctx, session, requested));
  if (session === null || isStepUp || needsFreshSignIn(interaction, session)) {
    const email = session?.user.email ?? loginHint(interaction);
    const passkeys = supportsPasskeys(ctx);
    // If passkeys work only on localhost, the user can continue there. The app's request then starts again on
    // localhost, because this sign-in's cookie is bound to the current host.
    const params = new URLSearchParams(interaction.params as Record<string, string>);
    const elsewhere = passkeyUrl(ctx, `/oauth/authorize?${params}`);
    if (elsewhere !== null && request.query.passkey === 'elsewhere') return { redirect: elsewhere };
    const stepUp = requested.includes(MULTI_FACTOR) ? 'two factors' : 'passkey';
    const page = signInPage({
      ...{ csrf, returnPath: path, app, passkeys, passkeyUrl: elsewhere },
      ...(email !== undefined && { email }),
      ...(isStepUp && { stepUp }),
    });
    return { page, formTargets };
  }
  if (interaction.prompt.name === 'login' || interaction.session?.accountId !== session.user.id) {
    return { redirect: await completeLogin(ctx, interaction, session) };
  }
  const page = consentPage({
    csrf,
    path,
    partner: { name: app, logoUrl },
    email: session.user.email,
    scopes: requestedScopes(interaction),
    redirectHost: hostOf(String(interaction.params.redirect_uri)),
  });
  return { page, formTargets, images: [logoUrl] };
};

export const decideInteraction: PageHandler = async (ctx, { session }, request) => {
  const interaction = await openInteraction(ctx, request);
  if (interaction === null) return EXPIRED;
  const { decision } = request.form;
  // The user may have signed out or switched accounts in another tab. If so, show the page again.
  const isSameUser =
    session !== null &&
    interaction.prompt.name === 'consent' &&
    interaction.session?.accountId === session.user.id;
  if (!isSameUser || (decision !== 'allow' && decision !== 'deny'))
    return { redirect: interactionPath(interaction.uid) };
  await recordDecision(ctx.db, {
    ...{ actor: { object: 'user', id: session.user.id }, requestId: ctx.requestId },
    ...{ action: decision === 'deny' ? 'consent.denied' : 'consent.allowed', reason: null },
    subject: { object: 'client', id: String(interaction.params.client_id) },
  });
  const result =
    decision === 'deny'
      ? { error: 'access_denied', error_description: 'the user denied access' }
      : await ctx.oauth.allowConsent(interaction);
  await ctx.oauth.finishInteraction(request.request, result);
  return { redirect: resumeUrl(ctx, interaction) };
};

/** Returns null if the interaction has expired or belongs to another browser. */
async function openInteraction({ oauth }: Context, { request }: PageRequest): Promise<Interaction | null> {
  const { uid } = request.params as { uid: string };
  try {
    const interaction = await oauth.interaction(request);
    return interaction.uid === uid ? interaction : null;
  } catch (error) {
    if ((error as { error?: unknown }).error === 'invalid_request') return null;
    throw error;
  }
}

/** Returns whether the app asked for a fresh sign-in and the user has not signed in since that request. */
function needsFreshSignIn({ prompt, params }: Interaction, { signed_in_at }: Session): boolean {
  const isRequested =
    prompt.name === 'login' &&
    prompt.reasons.some((reason) => reason === 'login_prompt' || reason === 'max_age');
  return isRequested && Date.parse(signed_in_at) < Number(params.requested_at);
}

function loginHint({ params }: Interaction): string | undefined {
  const hint = params.login_hint;
  return typeof hint === 'string' && hint.length <= MAX_EMAIL_LENGTH ? hint : undefined;
}

/** Uses `baseUrl`, which has the browser's current host, because the browser's cookies are bound to that host. */
function resumeUrl({ baseUrl }: Context, { uid }: Interaction): string {
  return `${baseUrl}/oauth/authorize/${uid}`;
}

async function completeLogin(ctx: Context, interaction: Interaction, session: Session): Promise<string> {
  const { user, signed_in_at } = session;
  const previous = interaction.session;
  if (previous !== undefined && previous.accountId !== user.id) {
    // Another user was signed in to this browser. Destroys that user's session, so that nothing carries over from it.
    await (await ctx.oauth.provider().Session.findByUid(previous.uid))?.destroy();
    delete interaction.session;
  }
  const ts = Math.floor(Date.parse(signed_in_at) / 1000);
  const amr = amrOf(session);
  const acr = acrFor(amr, readAcrValues(interaction.params.acr_values));
  interaction.result = {
    login: { accountId: user.id, ts, amr, ...(acr !== undefined && { acr }), remember: false },
  };
  await interaction.save(interaction.exp - Math.floor(Date.now() / 1000));
  return resumeUrl(ctx, interaction);
}

function requestedScopes({ prompt, params }: Interaction): string[] {
  const { missingOIDCScope } = prompt.details as { missingOIDCScope?: string[] };
  return (
    missingOIDCScope ??
    String(params.scope ?? '')
      .split(' ')
      .filter((scope) => scope !== '')
  );
}

function hostOf(uri: string): string {
  const { host, protocol } = new URL(uri);
  return host === '' ? protocol.slice(0, -1) : host;
}

function amrOf({ method, secondFactor }: Authentication): string[] {
  if (method === 'passkey') return [...AMR.passkey];
  return secondFactor === null ? [...AMR.password] : [...AMR.code];
}

export function signInOf(session: Session): PageSignIn {
  const at = Math.floor(Date.parse(session.signed_in_at) / 1000);
  return { userId: session.user.id, at, amr: amrOf(session) };
}

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

async function needsStepUp(
  ctx: Pick<Context, 'db' | 'config' | 'baseUrl'>,
  session: Session,
  requested: readonly string[],
): Promise<boolean> {
  return !meetsAcr(amrOf(session), requested) && (await canStepUp(ctx, session.user.id, requested));
}
