import type { Context } from '../../platform/context/context.ts';
import type { Interaction } from '../../platform/context/ports.ts';

type SignInRequest = {
  app: string;
  logoUrl: string | null;
  /** The page's CSP must allow these in `form-action`, because a submitted form may redirect to the app. */
  formTargets: string[];
};

/** Anyone who knows the return path learns which app made the request, but nothing about the user. */
export async function findSignInRequest(
  ctx: Context,
  returnPath: string | null,
): Promise<SignInRequest | null> {
  const uid = interactionUid(returnPath);
  const interaction = uid === null ? undefined : await ctx.oauth.provider().Interaction.find(uid);
  return interaction === undefined ? null : describeSignInRequest(ctx, interaction);
}

export async function describeSignInRequest(
  { oauth }: Context,
  { params }: Pick<Interaction, 'params'>,
): Promise<SignInRequest> {
  const clientId = String(params.client_id);
  const client = await oauth.findClient(clientId);
  return {
    app: client?.name ?? clientId,
    logoUrl: client?.logo_url ?? null,
    formTargets: [String(params.redirect_uri), ...(client?.redirect_uris ?? []), ...(client?.origins ?? [])],
  };
}

const INTERACTION_PATH = /^\/interaction\/([A-Za-z0-9_-]{1,64})$/;
const ACCOUNT_PATH = /^\/account\/(email|password|second-factor|delete)$/;

/** Allows only an app's pending sign-in and the account forms: accepting any URL would be an open redirect. */
export function parseReturnPath(next: unknown): string | null {
  if (typeof next !== 'string') return null;
  return INTERACTION_PATH.test(next) || ACCOUNT_PATH.test(next) ? next : null;
}

export function interactionPath(uid: string): string {
  return `/interaction/${uid}`;
}

export function interactionUid(returnPath: string | null): string | null {
  return returnPath === null ? null : (INTERACTION_PATH.exec(returnPath)?.[1] ?? null);
}
