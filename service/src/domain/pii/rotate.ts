import { PII_FIELDS } from '../../kernel/model/personal-data.ts';
import type { Context } from '../../platform/context/context.ts';
import { countRowsToRotate, insertAudit, lockRowsToRotate, replaceSealed } from './store.ts';

const BATCH_SIZE = 100;

/**
 * Reseals all personal data with the newest secret, in batches, while the service keeps running. Concurrent writes
 * already use the newest secret. Returns the number of users whose data was resealed.
 */
export async function rotatePii(ctx: Pick<Context, 'db' | 'sealing'>): Promise<number> {
  let rotated = 0;
  for (;;) {
    const count = await rotateBatch(ctx);
    rotated += count;
    if (count === 0 && (await countRowsToRotate(ctx.db, ctx.sealing.newestKeyId)) === 0) return rotated;
  }
}

async function rotateBatch({ db, sealing }: Pick<Context, 'db' | 'sealing'>): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const rows = await lockRowsToRotate(tx, sealing.newestKeyId, BATCH_SIZE);
    for (const { user_id, sealed, sealed_facts } of rows) {
      await replaceSealed(tx, user_id, {
        sealed: sealing.seal('pii', sealing.open('pii', sealed, user_id), user_id),
        sealed_facts: sealing.seal('pii facts', sealing.open('pii facts', sealed_facts, user_id), user_id),
      });
      await insertAudit(tx, { user_id, actor: 'operator', action: 'rotate', fields: [...PII_FIELDS] });
    }
    return rows.length;
  });
}
