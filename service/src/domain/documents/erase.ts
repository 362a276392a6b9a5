import type { Db } from '../../platform/db/pool.ts';
import { expireSubmissions } from './store.ts';

/** Expires the user's open forms. `kept` describes the record of signed forms, which the law requires us to keep. */
export async function eraseUser(
  tx: Db,
  userId: string,
  now: string,
): Promise<{ kept: string[]; openSubmissions: number[] }> {
  const { openSubmissions, isSigned } = await expireSubmissions(tx, userId, now);
  const kept = isSigned
    ? ['tax certification: the fact that a form was signed, and when; the signing provider stores the form']
    : [];
  return { kept, openSubmissions };
}
