import { changeEmailPage, confirmEmailPage, emailChangeSentPage } from '../../platform/pages/email-pages.ts';
import { messagePage } from '../../platform/pages/message-page.ts';
import { confirmEmailChange, findEmailChange, requestEmailChange } from './change-email.ts';
import type { PageHandler, PageResponse } from './page-route.ts';
import { withRecentSession } from './recent-session.ts';

const PATH = '/account/email';

const GONE: PageResponse = {
  status: 410,
  page: messagePage({
    title: 'This link no longer works',
    text: 'It has already been used, has expired, or belongs to another account.',
    action: { label: 'Your account', href: '/account' },
  }),
};

const SIGN_IN_FIRST: PageResponse = {
  page: messagePage({
    title: 'Sign in first',
    text: 'Sign in to the account that asked for the new address, then open the link in the email again.',
    action: { label: 'Sign in', href: '/sign-in' },
    art: 'mail',
  }),
};

export const showEmail = withRecentSession(PATH, (_ctx, { csrf }, _request, { user }) => ({
  page: changeEmailPage({ csrf, current: user.email }),
}));

export const postEmail = withRecentSession(PATH, async (ctx, { csrf, source }, { form }, session) => {
  const { email = '' } = form;
  const problem = await requestEmailChange(ctx, session, email, source);
  if (problem === null) return { page: emailChangeSentPage(email.trim(), ctx.config.mailboxUrl) };
  return { status: 422, page: changeEmailPage({ csrf, current: session.user.email, email, problem }) };
});

export const showNewEmail: PageHandler = async (ctx, { session, csrf }, { query }) => {
  if (session === null) return SIGN_IN_FIRST;
  const token = String(query.token ?? '');
  const email = await findEmailChange(ctx, session.user, token);
  return email === null ? GONE : { page: confirmEmailPage({ csrf, token, email }) };
};

export const confirmNewEmail: PageHandler = async (ctx, { session }, { form }) => {
  if (session === null) return SIGN_IN_FIRST;
  const isChanged = await confirmEmailChange(ctx, session.user, form.token ?? '');
  return isChanged ? { redirect: '/account?notice=email_changed' } : GONE;
};
