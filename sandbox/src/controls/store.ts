import type { Db } from '@causeway/service/platform/db/pool.ts';

/**
 * Checks whether more mail may be sent soon. This is the case if a notice is not handled yet, or if the first attempt
 * to send a mail has not started or may still be running. Attempts are counted when they start, so the count is 1
 * during the first attempt.
 */
export async function hasQueuedMail(db: Db): Promise<boolean> {
  const notices = db.selectFrom('notices').select('id').where('handled_at', 'is', null).limit(1);
  if ((await notices.execute()).length > 0) return true;
  const mails = db.selectFrom('mail_outbox').select('id').where('attempts', '<=', 1).limit(1);
  return (await mails.execute()).length > 0;
}

/** Returns the user's latest submission of a document type. */
export function findLatestSubmission(db: Db, userId: string, documentType: string) {
  return db
    .selectFrom('document_submissions')
    .select(['id', 'form_type', 'status'])
    .where('user_id', '=', userId)
    .where('document_type', '=', documentType)
    .orderBy('attempt', 'desc')
    .executeTakeFirst();
}
