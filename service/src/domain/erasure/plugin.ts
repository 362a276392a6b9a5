import type { FastifyInstance } from 'fastify';
import type { Context } from '../../platform/context/context.ts';
import { addPageRoute, preparePages } from '../accounts/page-route.ts';
import { downloadData, postDelete, showDelete } from './account-forms.ts';

const DELETE_PATH = '/account/delete';

/** The pages about the user's own data: download and deletion. */
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
