import { isId } from '../../kernel/ids.ts';
import { newSecret } from '../../kernel/secret-hash.ts';
import { accountPage } from '../../platform/pages/account-page.ts';
import { TOPICS } from '../notices/notice.ts';
import { listTopics, saveMailPreferences } from '../notices/preferences.ts';
import { accountCode, localeOf } from '../users/user.ts';
import { withRecentSession, withSession } from './page-route.ts';
import { deletePasskey, listPasskeys } from './passkey-store.ts';
import { passkeyUrl, supportsPasskeys } from './passkeys.ts';
import { readSecondFactor } from './second-factor.ts';
import { listSessions } from './session-store.ts';
import { lockSession, revokeSession, signOutEverywhere } from './sessions.ts';

const NOTICES = new Map([
  ['disconnected', 'App disconnected.'],
  ['passkey_added', 'Passkey added. You can now use it to sign in.'],
  ['passkey_removed', 'Passkey removed.'],
  ['emails_saved', 'Email settings saved.'],
  ['session_ended', 'Signed out of that browser.'],
  ['password_changed', 'Password changed. We signed you out of every other browser.'],
  ['email_changed', 'Email changed. Use the new address to sign in.'],
  ['second_factor_on', 'Two-step sign-in is on.'],
  ['second_factor_off', 'Two-step sign-in is off.'],
]);

export const showAccount = withSession(async (ctx, { csrf }, { query }, session) => {
  const { user } = session;
  const [apps, passkeys, topics, secondFactor, sessions] = await Promise.all([
    ctx.oauth.listGrants(user.id),
    listPasskeys(ctx.db, user.id),
    listTopics(ctx, user.id),
    readSecondFactor(ctx, user.id),
    listSessions(ctx.db, user.id),
  ]);
  const message = NOTICES.get(String(query.notice));
  const page = accountPage({
    csrf,
    user,
    code: accountCode(ctx, user.id),
    apps,
    passkeys,
    secondFactor,
    sessions,
    sessionId: session.id,
    canAddPasskeys: supportsPasskeys(ctx),
    passkeyUrl: passkeyUrl(ctx, '/account'),
    mails: { topics, locale: localeOf(user) },
    ...(message !== undefined && { message }),
  });
  return { page, images: apps.map((app) => app.logo_url) };
});

export const disconnectApp = withSession(async (ctx, _browser, { form }, { user }) => {
  await ctx.oauth.revokeGrant(user.id, form.client_id ?? '');
  return { redirect: '/account?notice=disconnected' };
});

export const saveEmailSettings = withSession(async (ctx, _browser, { form }, { user }) => {
  const topics = TOPICS.filter((topic) => form[topic] === 'yes');
  await saveMailPreferences(ctx, user.id, topics, form.locale);
  return { redirect: '/account?notice=emails_saved' };
});

export const removePasskey = withRecentSession('/account', async (ctx, _browser, { form }, session) => {
  const { id = '' } = form;
  if (isId(id))
    await ctx.db.transaction().execute(async (tx) => {
      await lockSession(tx, session);
      await deletePasskey(tx, session.user.id, id);
    });
  return { redirect: '/account?notice=passkey_removed' };
});

export const endOneSession = withSession(async (ctx, _browser, { form }, { user }) => {
  const { id = '' } = form;
  if (isId(id)) await revokeSession(ctx, user.id, id);
  return { redirect: '/account?notice=session_ended' };
});

export const endAllSessions = withSession(async (ctx, _browser, _request, { user }) => {
  await signOutEverywhere(ctx, user.id);
  return { cookie: newSecret(ctx.random), redirect: '/sign-in?notice=signed_out' };
});
