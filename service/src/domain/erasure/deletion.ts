import type { Context } from '../../platform/context/context.ts';
import { composeMail } from '../../platform/mail/message.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { lockSession, type Session } from '../accounts/sessions.ts';
import { localeOf } from '../users/user.ts';
import { type ErasureBlock, findBlock, tryErasure } from './erasure.ts';

/**
 * Returns why the user's account cannot be deleted now, or null if no reason is found. This is only a preview:
 * `deleteAccount` checks more conditions, under a lock.
 */
export function findDeletionBlock(ctx: Context, userId: string): Promise<ErasureBlock | null> {
  return findBlock(ctx, ctx.db, userId);
}

/**
 * Deletes the account at its user's request, and confirms the deletion by email. Returns null if the account was
 * deleted. Otherwise, returns why it cannot be deleted now, for example because of open participations.
 */
export async function deleteAccount(
  ctx: Context,
  session: Pick<Session, 'id' | 'user'>,
): Promise<ErasureBlock | null> {
  const { user } = session;
  const mail = composeMail(user.email, localeOf(user), 'account_deleted', { at: ctx.clock.now() });
  const result = await tryErasure(ctx, user.id, 'user', async (tx) => {
    await lockSession(tx, session);
    await sendMail(ctx, tx, mail);
  });
  if (result.block !== null) return result.block;
  const { applicantId, openSubmissions } = result.erasure;
  const fields = { user_id: user.id, applicant_id: applicantId, submissions: openSubmissions };
  ctx.log.info(fields, 'user deleted their account');
  return null;
}
