import type { Context } from '../context/context.ts';
import { startQueueWorker } from '../jobs/queue-worker.ts';
import type { Mailer } from './mail.ts';
import { takeMailToSend } from './outbox.ts';
import { deleteMail, MAIL_CHANNEL } from './store.ts';

const POLL_INTERVAL_MS = 15_000;
/**
 * The maximum number of attempts. With the retry delays in `store.ts`, this many attempts take about a day. Later
 * attempts would be useless: links that confirm an address or reset a password are valid for a day at most.
 */
const MAX_ATTEMPTS = 28;

export type MailWorker = { stop(): Promise<void> };

/** Sends the mails in the outbox and retries failed ones. */
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

/** Tries to send one mail. Returns false if none is due. */
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
