import { newId } from '../../kernel/ids.ts';
import type { Context } from '../context/context.ts';
import type { Db } from '../db/pool.ts';
import type { Mail } from './mail.ts';
import { claimDueMail, insertMail } from './store.ts';

/** A mail claimed for one attempt. */
export type Attempt = { id: string; mail: Mail; attempts: number };

/**
 * Stores a mail in the same transaction as the change that it reports. The mail is sent after the commit, even if the
 * service crashes in between.
 */
export async function sendMail(
  ctx: Pick<Context, 'clock' | 'random' | 'sealing'>,
  tx: Db,
  mail: Mail,
): Promise<void> {
  const id = newId(ctx.clock, ctx.random);
  await insertMail(tx, id, ctx.sealing.seal('mail', Buffer.from(JSON.stringify(mail)), id));
}

/** Claims the next due mail, or returns null if none is due. */
export async function takeMailToSend({ db, sealing }: Context): Promise<Attempt | null> {
  const claimed = await claimDueMail(db);
  if (claimed === undefined) return null;
  const { id, attempts } = claimed;
  return { id, attempts, mail: JSON.parse(sealing.open('mail', claimed.mail, id).toString()) };
}
