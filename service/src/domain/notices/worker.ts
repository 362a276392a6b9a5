import { formatUnits } from 'viem/utils';
import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { startInterval } from '../../platform/jobs/interval.ts';
import type { MessageValues } from '../../platform/mail/catalogue.ts';
import type { Mail } from '../../platform/mail/mail.ts';
import { composeMail } from '../../platform/mail/mail.ts';
import { sendMail } from '../../platform/mail/outbox.ts';
import { findUser, isErasedUser, type User } from '../users/store.ts';
import { localeOf } from '../users/user.ts';
import { NOTICE_TOPICS, type NoticeKind, type Topic } from './notice.ts';
import { unsubscribeUrl } from './preferences.ts';
import {
  listOptOuts,
  lockWaitingNotices,
  markHandled,
  postponeNotices,
  type WaitingNotice,
} from './store.ts';

const INTERVAL_MS = 250;
const BATCH_SIZE = 100;

/** Turns notices into mails. Any number of nodes may run this worker. */
export function startNoticeWorker(ctx: Context): () => Promise<void> {
  return startInterval(ctx, INTERVAL_MS, 'sending notices failed', () => sendNotices(ctx));
}

/**
 * Queues a mail for each waiting notice. One transaction queues the mails and marks their notices as handled, so that
 * no mail is queued twice. Postpones a notice that cannot be rendered, because a node that runs a newer version may be
 * able to render it.
 */
export async function sendNotices(ctx: Context): Promise<void> {
  for (let count = BATCH_SIZE; count === BATCH_SIZE; ) {
    count = await ctx.db.transaction().execute(async (tx) => {
      const notices = await lockWaitingNotices(tx, BATCH_SIZE);
      const failed: bigint[] = [];
      for (const notice of notices) if (!(await sendNotice(ctx, tx, notice))) failed.push(notice.id);
      const handled = notices.map(({ id }) => id).filter((id) => !failed.includes(id));
      if (handled.length > 0) await markHandled(tx, handled);
      if (failed.length > 0) await postponeNotices(tx, failed);
      return notices.length;
    });
  }
}

async function sendNotice(ctx: Context, tx: Db, notice: WaitingNotice): Promise<boolean> {
  const user = await findUser(tx, notice.user_id);
  if (user === undefined || (await isErasedUser(tx, user.id))) return true;
  const kind = notice.kind as NoticeKind;
  const topic: Topic | null | undefined = NOTICE_TOPICS[kind];
  if (topic && (await listOptOuts(tx, user.id)).includes(topic)) return true;
  const mail = tryToMail(ctx, user, { ...notice, kind }, topic);
  if (mail !== null) await sendMail(ctx, tx, mail);
  return mail !== null;
}

/** Returns null if the notice cannot be rendered, or if its kind comes from a newer version of the service. */
function tryToMail(
  ctx: Context,
  user: User,
  { id, kind, data }: WaitingNotice & { kind: NoticeKind },
  topic: Topic | null | undefined,
): Mail | null {
  try {
    if (topic === undefined) throw new Error(`unknown kind of notice "${kind}"`);
    const options = topic === null ? {} : { unsubscribeUrl: unsubscribeUrl(ctx, user.id, topic) };
    return toMail(ctx, user, kind, data, options);
  } catch (err) {
    const fields = { err, reason: 'notice_not_rendered', notice_id: String(id), kind };
    ctx.log.error(fields, 'rendering a notice failed; will retry in 10 minutes');
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
