import { formatUnits } from 'viem/utils';
import { isErased } from '../accounts/hold.ts';
import { findUser, localeOf, type User } from '../accounts/user.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import { startInterval } from '../jobs/interval.ts';
import type { MessageValues } from '../mail/catalogue.ts';
import type { Mail } from '../mail/mail.ts';
import { composeMail } from '../mail/message.ts';
import { sendMail } from '../mail/outbox.ts';
import { NOTICE_TOPICS, type NoticeKind } from './notice.ts';
import { listOptOuts, lockWaitingNotices, markHandled, type WaitingNotice } from './store.ts';
import { unsubscribeUrl } from './unsubscribe.ts';

const INTERVAL_MS = 250;
const BATCH_SIZE = 100;

/** Turns notices into mails. Any number of nodes may run it. */
export function startNoticeWorker(ctx: Context): () => Promise<void> {
  return startInterval(ctx, INTERVAL_MS, 'sending notices failed', () => sendNotices(ctx));
}

/** Queues the mails in the transaction that marks their notices as handled, so that each mail is queued once. */
export async function sendNotices(ctx: Context): Promise<void> {
  for (let count = BATCH_SIZE; count === BATCH_SIZE; ) {
    count = await ctx.db.transaction().execute(async (tx) => {
      const notices = await lockWaitingNotices(tx, BATCH_SIZE);
      for (const notice of notices) await sendNotice(ctx, tx, notice);
      const ids = notices.map(({ id }) => id);
      if (ids.length > 0) await markHandled(tx, ids);
      return ids.length;
    });
  }
}

async function sendNotice(ctx: Context, tx: Db, notice: WaitingNotice): Promise<void> {
  const user = await findUser(tx, notice.user_id);
  const kind = notice.kind as NoticeKind;
  const topic = NOTICE_TOPICS[kind];
  if (user === undefined || topic === undefined || (await isErased(tx, user.id))) return;
  if (topic !== null && (await listOptOuts(tx, user.id)).includes(topic)) return;
  const options = topic === null ? {} : { unsubscribeUrl: unsubscribeUrl(ctx, user.id, topic) };
  const mail = tryToMail(ctx, user, { ...notice, kind }, options);
  if (mail !== null) await sendMail(ctx, tx, mail);
}

/**
 * Returns null if the notice cannot be rendered. Such a notice counts as handled, because otherwise it would
 * block all later notices.
 */
function tryToMail(
  ctx: Context,
  user: User,
  { id, kind, data }: WaitingNotice & { kind: NoticeKind },
  options: Options,
): Mail | null {
  try {
    return toMail(ctx, user, kind, data, options);
  } catch (err) {
    ctx.log.error({ err, notice_id: String(id), kind }, 'rendering a notice failed');
    return null;
  }
}

type Options = Parameters<typeof composeMail>[4];

function toMail(
  { baseUrl }: Pick<Context, 'baseUrl'>,
  user: User,
  kind: NoticeKind,
  data: Record<string, unknown>,
  options: Options,
): Mail {
  const url = `${baseUrl}/account`;
  const compose = <K extends NoticeKind>(values: MessageValues[K]) =>
    composeMail(user.email, localeOf(user), kind as K, values, options);
  switch (kind) {
    case 'signed_in':
      return compose<typeof kind>({ url: `${baseUrl}/forgot`, at: Number(data.at) });
    case 'review_approved':
    case 'review_action_needed':
    case 'review_rejected':
      return compose<typeof kind>({ url, isAccreditation: String(data.level).startsWith('Accreditation') });
    case 'participation_pending':
    case 'participation_completed':
    case 'participation_failed':
    case 'participation_remitted':
      return compose<typeof kind>({
        ...{ url, offer: String(data.offer), partner: String(data.partner), asset: String(data.asset) },
        amount: formatUnits(BigInt(String(data.amount)), Number(data.digits)),
      });
    default:
      return compose<typeof kind>({ url, until: Number(data.until) });
  }
}
