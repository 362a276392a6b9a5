import type { Context } from '../context.ts';
import { isId } from '../http/ids.ts';
import { accountPage } from '../pages/account-page.ts';
import type { Answer, PageInput } from './page-route.ts';
import { deletePasskey, listPasskeys } from './passkey-store.ts';
import { hasPasskeys } from './passkeys.ts';
import type { Visit } from './visit.ts';

const SIGN_IN: Answer = { redirect: '/sign-in' };

const MESSAGES = new Map([
  ['disconnected', 'The app is disconnected.'],
  ['passkey_added', 'The passkey is added. You can sign in with it from now on.'],
  ['passkey_removed', 'The passkey is removed.'],
]);

export async function showAccount(
  ctx: Context,
  { session, csrf }: Visit,
  { query }: PageInput,
): Promise<Answer> {
  if (session === null) return SIGN_IN;
  const { user } = session;
  const [apps, passkeys] = await Promise.all([ctx.oauth.listGrants(user.id), listPasskeys(ctx.db, user.id)]);
  const message = MESSAGES.get(String(query.notice));
  const page = accountPage({
    csrf,
    user,
    apps,
    passkeys,
    canAddPasskeys: hasPasskeys(ctx),
    ...(message !== undefined && { message }),
  });
  return { page, images: apps.map((app) => app.logo_url) };
}

export async function disconnectApp(ctx: Context, { session }: Visit, { form }: PageInput): Promise<Answer> {
  if (session === null) return SIGN_IN;
  await ctx.oauth.revokeGrant(session.user.id, form.client_id ?? '');
  return { redirect: '/account?notice=disconnected' };
}

export async function removePasskey(ctx: Context, { session }: Visit, { form }: PageInput): Promise<Answer> {
  if (session === null) return SIGN_IN;
  const { id = '' } = form;
  if (isId(id)) await deletePasskey(ctx.db, session.user.id, id);
  return { redirect: '/account?notice=passkey_removed' };
}
