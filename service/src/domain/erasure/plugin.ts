import type { FastifyInstance } from 'fastify';
import { newSecret } from '../../kernel/secret-hash.ts';
import type { Context } from '../../platform/context/context.ts';
import { messagePage } from '../../platform/pages/message-page.ts';
import { deletePage } from '../../platform/pages/security-pages.ts';
import { addPageRoute, preparePages, withRecentSession } from '../accounts/page-route.ts';
import { deleteAccount, findBlock } from './erasure.ts';
import { exportUser } from './export.ts';

const DELETE_PATH = '/account/delete';

export function accountDataPlugin(ctx: Context) {
  return async (app: FastifyInstance): Promise<void> => {
    await app.register(async (scope) => {
      preparePages(scope, ctx);
      const post = { method: 'POST' } as const;
      addPageRoute(scope, ctx, { ...post, path: '/account/export', handle: downloadData });
      addPageRoute(scope, ctx, { method: 'GET', path: DELETE_PATH, handle: showDelete });
      addPageRoute(scope, ctx, { ...post, path: DELETE_PATH, fields: ['confirm'], handle: postDelete });
    });
  };
}

const downloadData = withRecentSession('/account', async (ctx, _browser, _request, { user }) => ({
  download: { name: 'causeway-data.json', json: await exportUser(ctx, user) },
}));

const showDelete = withRecentSession(DELETE_PATH, async (ctx, { csrf }, _request, { user }) => ({
  page: deletePage({ csrf, email: user.email, block: await findBlock(ctx, ctx.db, user.id) }),
}));

const postDelete = withRecentSession(DELETE_PATH, async (ctx, { csrf }, { form }, session) => {
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
