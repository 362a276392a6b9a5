import type { Context } from '../context.ts';
import type { Interaction } from '../oauth/server.ts';
import { consentPage } from '../pages/consent-page.ts';
import { messagePage } from '../pages/message-page.ts';
import { signInPage } from '../pages/sign-in-page.ts';
import type { Answer, PageInput } from './page-route.ts';
import { hasPasskeys } from './passkeys.ts';
import { interactionPath, interactionUid } from './return-path.ts';
import type { Session } from './sessions.ts';
import type { Visit } from './visit.ts';

/** An app's wish to sign somebody in, as the pages need it. */
export type SignInRequest = { app: string; logoUrl: string | null; leadsTo: string[] };

const GONE: Answer = {
  status: 400,
  page: messagePage({
    title: 'This sign-in has expired',
    text: 'Go back to the app that sent you here and start again.',
  }),
};

/** What a page on the way to an app says of it. Knowing the path is enough for that, and for nothing else. */
export async function findSignInRequest(ctx: Context, next: string | null): Promise<SignInRequest | null> {
  const uid = interactionUid(next);
  const interaction = uid === null ? undefined : await ctx.oauth.provider().Interaction.find(uid);
  return interaction === undefined ? null : describeSignInRequest(ctx, interaction);
}

async function describeSignInRequest(
  { oauth }: Context,
  { params }: Pick<Interaction, 'params'>,
): Promise<SignInRequest> {
  const clientId = String(params.client_id);
  const client = await oauth.findClient(clientId);
  return {
    app: client?.name ?? clientId,
    logoUrl: client?.logo_url ?? null,
    leadsTo: [String(params.redirect_uri), ...(client?.redirect_uris ?? []), ...(client?.origins ?? [])],
  };
}

/** The page at which an app's sign-in continues: sign in first, then consent; finished when nothing is left to ask. */
export async function showInteraction(ctx: Context, visit: Visit, input: PageInput): Promise<Answer> {
  const interaction = await openInteraction(ctx, input);
  if (interaction === null) return GONE;
  const { session, csrf } = visit;
  const path = interactionPath(interaction.uid);
  const errand = await describeSignInRequest(ctx, interaction);
  if (session === null || isStale(interaction, session)) {
    const hint = interaction.params.login_hint;
    const email = session?.user.email ?? (typeof hint === 'string' && hint.length <= 254 ? hint : undefined);
    const page = signInPage({
      csrf,
      next: path,
      app: errand.app,
      passkeys: hasPasskeys(ctx),
      ...(email !== undefined && { email }),
    });
    return { page, leadsTo: errand.leadsTo };
  }
  if (interaction.prompt.name === 'login' || interaction.session?.accountId !== session.user.id) {
    return { redirect: await finishSignIn(ctx, interaction, session) };
  }
  const page = consentPage({
    csrf,
    path,
    partner: { name: errand.app, logoUrl: errand.logoUrl },
    email: session.user.email,
    scopes: askedScopes(interaction),
    returnsTo: hostOf(String(interaction.params.redirect_uri)),
  });
  return { page, leadsTo: errand.leadsTo, images: [errand.logoUrl] };
}

/** The user's answer to the consent page. */
export async function decideInteraction(ctx: Context, visit: Visit, input: PageInput): Promise<Answer> {
  const interaction = await openInteraction(ctx, input);
  if (interaction === null) return GONE;
  const { user } = visit.session ?? {};
  const { decision } = input.form;
  // Whoever signed in or out in another tab is asked again.
  const isAsked =
    user !== undefined && interaction.prompt.name === 'consent' && interaction.session?.accountId === user.id;
  if (!isAsked || (decision !== 'allow' && decision !== 'deny'))
    return { redirect: interactionPath(interaction.uid) };
  const result =
    decision === 'deny'
      ? { error: 'access_denied', error_description: 'the user denied access' }
      : await ctx.oauth.allowConsent(interaction);
  return { redirect: await ctx.oauth.finishInteraction(input.request, result) };
}

/** Null when the interaction is over, or is not this browser's. */
async function openInteraction({ oauth }: Context, { request }: PageInput): Promise<Interaction | null> {
  const { uid } = request.params as { uid: string };
  try {
    const interaction = await oauth.interaction(request);
    return interaction.uid === uid ? interaction : null;
  } catch (error) {
    if ((error as { error?: unknown }).error === 'invalid_request') return null;
    throw error;
  }
}

/** The app asked for a fresh sign-in, and this session is older than its question. */
function isStale({ prompt, iat }: Interaction, { signed_in_at }: Session): boolean {
  const asksAgain =
    prompt.name === 'login' &&
    prompt.reasons.some((reason) => reason === 'login_prompt' || reason === 'max_age');
  return asksAgain && Date.parse(signed_in_at) / 1000 < iat;
}

async function finishSignIn(
  { oauth }: Context,
  interaction: Interaction,
  { user, signed_in_at, method }: Session,
): Promise<string> {
  const before = interaction.session;
  if (before !== undefined && before.accountId !== user.id) {
    // Somebody else was signed in here: nothing of theirs goes along.
    await (await oauth.provider().Session.findByUid(before.uid))?.destroy();
    delete interaction.session;
  }
  const ts = Math.floor(Date.parse(signed_in_at) / 1000);
  interaction.result = {
    login: { accountId: user.id, ts, amr: [method === 'password' ? 'pwd' : 'hwk'], remember: false },
  };
  await interaction.save(interaction.exp - Math.floor(Date.now() / 1000));
  return interaction.returnTo;
}

function askedScopes({ prompt, params }: Interaction): string[] {
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
