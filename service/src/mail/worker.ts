import type { Context } from '../context.ts';
import type { Mailer } from './mail.ts';
import { deleteMail, MAIL_CHANNEL, takeMailToSend } from './outbox.ts';

const EVERY = 15_000;
/** About a day with the delays of the outbox; by then every link in a mail has expired. */
const MOST_ATTEMPTS = 28;

export type MailWorker = { stop(): Promise<void> };

/** Sends what is in the outbox: at once when told of a new mail, and again and again what did not go. */
export async function startMailWorker(ctx: Context, mailer: Mailer): Promise<MailWorker> {
  let running: Promise<void> | null = null;
  let again = false;
  let stopped = false;

  const wake = (): void => {
    again = true;
    running ??= run().finally(() => {
      running = null;
      if (again && !stopped) wake();
    });
  };
  const run = async (): Promise<void> => {
    while (again && !stopped) {
      again = false;
      try {
        while (!stopped && (await sendNext(ctx, mailer)));
      } catch (err) {
        ctx.log.warn({ err }, 'the outbox of mails cannot be read');
      }
    }
  };
  const timer = setInterval(wake, EVERY);
  timer.unref();
  await ctx.listener.on(MAIL_CHANNEL, wake);
  ctx.listener.onRestored(wake);
  wake();
  return {
    stop: async () => {
      stopped = true;
      clearInterval(timer);
      await running;
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
    const isLast = attempts >= MOST_ATTEMPTS;
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
