import type { User } from '../accounts/user.ts';
import { localeOf } from '../accounts/user.ts';
import type { Context } from '../context.ts';
import { ApiError } from '../errors.ts';
import { composeMail } from '../mail/message.ts';
import { sendMail } from '../mail/outbox.ts';
import { BLOCKS, eraseUser, findBlock } from './erasure.ts';

/** Why an account cannot be deleted now. `restricted` is never explained. */
export type DeletionBlock = keyof typeof BLOCKS | 'restricted';

/** Returns why the user's account cannot be deleted now, or null. `deleteAccount` decides again, under a lock. */
export function findDeletionBlock(ctx: Context, userId: string): Promise<DeletionBlock | null> {
  return findBlock(ctx, ctx.db, userId);
}

/**
 * Deletes the account at its user's request and confirms it by mail. Returns the block if money may still move for it, or
 * if its wallets must leave allow-lists first.
 */
export async function deleteAccount(ctx: Context, user: User): Promise<DeletionBlock | null> {
  try {
    const { applicantId, openSubmissions } = await eraseUser(ctx, user.id, 'user');
    await confirmDeletion(ctx, user);
    for (const submission of openSubmissions)
      await ctx.documents
        .archive(submission)
        .catch((err: unknown) => ctx.log.warn({ err, submission }, 'could not archive a signing link'));
    ctx.log.info({ user_id: user.id, applicant_id: applicantId }, 'account deleted by its user');
    return null;
  } catch (error) {
    const block = error instanceof ApiError ? blockOf(error) : null;
    if (block === null) throw error;
    return block;
  }
}

async function confirmDeletion(ctx: Context, user: User): Promise<void> {
  const mail = composeMail(user.email, localeOf(user), 'account_deleted', { at: ctx.clock.now() });
  await ctx.db.transaction().execute((tx) => sendMail(ctx, tx, mail));
}

function blockOf({ code, details }: ApiError): DeletionBlock | null {
  if (code === 'account_restricted') return 'restricted';
  const [reason] = Object.entries(BLOCKS).find(([, text]) => JSON.stringify(details).includes(text)) ?? [];
  return (reason as keyof typeof BLOCKS | undefined) ?? null;
}
