import type { Context } from '../context.ts';
import { startQueueWorker } from '../jobs/queue-worker.ts';
import type { Mailer } from './mail.ts';
import { deleteMail, MAIL_CHANNEL, takeMailToSend } from './outbox.ts';

const EVERY = 15_000;
/** About a day with the delays of the outbox; by then every link in a mail has expired. */
const MAX_ATTEMPTS = 28;

export type MailWorker = { stop(): Promise<void> };

/** Sends what is in the outbox: at once when told of a new mail, and again and again what did not go. */
export async function startMailWorker(ctx: Context, mailer: Mailer): Promise<MailWorker> {
  const worker = await startQueueWorker(ctx, {
    ...{ name: 'mail', channel: MAIL_CHANNEL, every: EVERY, concurrency: 1 },
    step: async () => ((await sendNext(ctx, mailer)) ? 'worked' : 'idle'),
  });
  return {
    stop: async () => {
      await worker.stop();
      mailer.close();
    },
  };
}

/** False when there is nothing to send. */
async function sendNext(ctx: Context, mailer: Mailer): Promise<boolean> {
  const attempt = await takeMailToSend(ctx);
  if (attempt === null) return false;
  const { id, mail, attempts } = attempt;
  try {
    await mailer.send(id, mail);
  } catch (err) {
    const isLast = attempts >= MAX_ATTEMPTS;
    ctx.log[isLast ? 'error' : 'warn'](
      { err, mail_id: id, attempts },
      isLast ? 'a mail was given up' : 'a mail could not be sent',
    );
    if (isLast) await deleteMail(ctx.db, id);
    return true;
  }
  await deleteMail(ctx.db, id);
  return true;
}
