import { recoveryCodesPage, totpPage } from '../../platform/pages/second-factor-pages.ts';
import { withRecentSession } from './recent-session.ts';
import { confirmTotp, readTotpSetup, removeSecondFactor, startTotp } from './second-factor.ts';
import { throttleCode } from './throttle.ts';

const PATH = '/account/second-factor';
const ACCOUNT = { redirect: '/account' };

export const showSecondFactor = withRecentSession(PATH, async (ctx, { csrf }, _request, { user }) => {
  const setup = await startTotp(ctx, user);
  return setup === null ? ACCOUNT : { page: totpPage({ csrf, ...setup }) };
});

export const postSecondFactor = withRecentSession(PATH, async (ctx, { csrf, source }, { form }, session) => {
  const { user } = session;
  const attempt = await throttleCode(ctx, user.email, source);
  const codes = await confirmTotp(ctx, session, form.code ?? '');
  if (codes !== null) {
    await attempt.succeed();
    return { page: recoveryCodesPage(codes) };
  }
  const setup = await readTotpSetup(ctx, user);
  if (setup === null) return ACCOUNT;
  const problem = 'That code didn’t work. Check that the app shows “Causeway” and enter its newest code.';
  return { status: 422, page: totpPage({ csrf, ...setup, problem }) };
});

export const removeFactor = withRecentSession('/account', async (ctx, _browser, _request, session) => {
  await removeSecondFactor(ctx, session);
  return { redirect: '/account?notice=second_factor_off' };
});
