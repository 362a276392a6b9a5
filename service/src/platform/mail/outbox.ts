import { newId } from '../../kernel/ids.ts';
import type { Context } from '../context/context.ts';
import type { Db } from '../db/pool.ts';
import { startQueueWorker } from '../jobs/queue-worker.ts';
import type { Mail, Mailer } from './mail.ts';
import { claimDueMail, deleteMail, insertMail, MAIL_CHANNEL } from './store.ts';

type Attempt = { id: string; mail: Mail; attempts: number };

/**
 * In the same transaction as the change that it reports. Sent after the commit, even if the service crashes
 * meanwhile.
 */
export async function sendMail(
  ctx: Pick<Context, 'clock' | 'random' | 'sealing'>,
  tx: Db,
  mail: Mail,
): Promise<void> {
  const id = newId(ctx.clock, ctx.random);
  await insertMail(tx, id, ctx.sealing.seal('mail', Buffer.from(JSON.stringify(mail)), id));
}

export async function takeMailToSend({ db, sealing }: Context): Promise<Attempt | null> {
  const claimed = await claimDueMail(db);
  if (claimed === undefined) return null;
  const { id, attempts } = claimed;
  return { id, attempts, mail: JSON.parse(sealing.open('mail', claimed.mail, id).toString()) };
}

const POLL_INTERVAL_MS = 15_000;
/**
 * With the delays in `store.ts`, about a day. Later attempts would be useless: links that confirm an address or reset
 * a password are valid for a day at most.
 */
const MAX_ATTEMPTS = 28;

type MailWorker = { stop(): Promise<void> };

export async function startMailWorker(ctx: Context, mailer: Mailer): Promise<MailWorker> {
  const worker = await startQueueWorker(ctx, {
    name: 'mail',
    channel: MAIL_CHANNEL,
    intervalMs: POLL_INTERVAL_MS,
    concurrency: 1,
    step: async () => ((await sendNext(ctx, mailer)) ? 'worked' : 'idle'),
  });
  return {
    stop: async () => {
      await worker.stop();
      mailer.close();
    },
  };
}

async function sendNext(ctx: Context, mailer: Mailer): Promise<boolean> {
  const attempt = await takeMailToSend(ctx);
  if (attempt === null) return false;
  const { id, mail, attempts } = attempt;
  try {
    await mailer.send(id, mail);
  } catch (err) {
    if (attempts < MAX_ATTEMPTS) {
      ctx.log.warn({ err, mail_id: id, attempts }, 'sending mail failed');
      return true;
    }
    ctx.log.error({ err, mail_id: id, attempts }, 'mail discarded after the last attempt');
  }
  await deleteMail(ctx.db, id);
  return true;
}
