import { isId } from '../../kernel/ids.ts';
import { newSecret } from '../../kernel/secret-hash.ts';
import { withSession } from './recent-session.ts';
import { revokeSession, signOutEverywhere } from './sessions.ts';

export const endOneSession = withSession(async (ctx, _browser, { form }, { user }) => {
  const { id = '' } = form;
  if (isId(id)) await revokeSession(ctx, user.id, id);
  return { redirect: '/account?notice=session_ended' };
});

export const endAllSessions = withSession(async (ctx, _browser, _request, { user }) => {
  await signOutEverywhere(ctx, user.id);
  return { cookie: newSecret(ctx.random), redirect: '/sign-in?notice=signed_out' };
});
