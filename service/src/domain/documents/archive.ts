import type { Context } from '../../platform/context/context.ts';
import { changeSubmission } from './status.ts';
import { deleteFormToArchive, type SubmissionRow } from './store.ts';

/**
 * Archives a form that has ended, so that its link stops working. If the user has signed or declined the form in the
 * meantime, stores that instead. Returns false if the provider does not know the form: the provider may still be
 * creating it, or may never have received our request.
 */
export async function archiveForm(
  ctx: Context,
  { id, provider_submission_id }: Pick<SubmissionRow, 'id' | 'provider_submission_id'>,
): Promise<boolean> {
  const submissionId =
    provider_submission_id === null
      ? (await ctx.documents.find(id))?.submissionId
      : Number(provider_submission_id);
  if (submissionId === undefined) return false;
  const signing = await ctx.documents.archive(submissionId);
  await ctx.db.transaction().execute(async (tx) => {
    if (signing !== null) await changeSubmission(ctx, tx, id, signing);
    await deleteFormToArchive(tx, id);
  });
  return true;
}
