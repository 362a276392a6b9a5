import { newSecret } from '../../kernel/secret-hash.ts';
import { deletePage } from '../../platform/pages/delete-page.ts';
import { messagePage } from '../../platform/pages/message-page.ts';
import { withRecentSession } from '../accounts/recent-session.ts';
import { deleteAccount, findDeletionBlock } from './deletion.ts';
import { exportUser } from './export.ts';

const DELETE_PATH = '/account/delete';

export const downloadData = withRecentSession('/account', async (ctx, _browser, _request, { user }) => ({
  download: { name: 'causeway-data.json', json: await exportUser(ctx, user) },
}));

export const showDelete = withRecentSession(DELETE_PATH, async (ctx, { csrf }, _request, { user }) => ({
  page: deletePage({ csrf, email: user.email, block: await findDeletionBlock(ctx, user.id) }),
}));

export const postDelete = withRecentSession(DELETE_PATH, async (ctx, { csrf }, { form }, session) => {
  const { user } = session;
  const page = (block: Parameters<typeof deletePage>[0]['block'], problem?: string) => ({
    status: block === null ? 422 : 409,
    page: deletePage({ csrf, email: user.email, block, ...(problem !== undefined && { problem }) }),
  });
  if (form.confirm !== 'yes') return page(null, 'Check the box to confirm.');
  const block = await deleteAccount(ctx, session);
  if (block !== null) return page(block);
  return {
    cookie: newSecret(ctx.random),
    page: messagePage({
      title: 'Your account is deleted',
      text: 'All apps are disconnected. We emailed you a confirmation.',
      art: 'done',
    }),
  };
});
