import type { Db } from '@causeway/service/db/pool.ts';

/** Returns whether the outbox holds mail whose first delivery attempt is not over. */
export async function hasQueuedMail(db: Db): Promise<boolean> {
  const rows = await db.selectFrom('mail_outbox').select('id').where('attempts', '<=', 1).limit(1).execute();
  return rows.length > 0;
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
