import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '@causeway/service/context.ts';
import { publicRoute } from '@causeway/service/http/route.ts';
import { Closed, ObjectName, Timestamp } from '@causeway/service/http/wire.ts';
import Type from 'typebox';
import type { MailServer, ReceivedMail } from '../simulators/mail-server.ts';

const Mail = Closed({
  object: ObjectName('mail'),
  to: Type.String(),
  subject: Type.String(),
  text: Type.String(),
  links: Type.Array(Type.String()),
  sent_at: Timestamp,
});

const PATIENCE = 3_000;

/** Mails that providers send to users on their own. */
export type OthersMails = () => Promise<readonly ReceivedMail[]>;

export function mailRoute(server: MailServer, others: OthersMails = async () => []) {
  return publicRoute({
    method: 'GET',
    path: '/sandbox/mail',
    operationId: 'listMails',
    summary: 'Mails that the service and the signing provider have sent, newest first',
    query: Type.Object({ to: Type.Optional(Type.String()) }),
    reply: Closed({ object: ObjectName('list'), data: Type.Array(Mail) }),
    handle: async (ctx, _caller, { query }) => {
      await mailsLeft(ctx);
      const data = [...server.mails(), ...(await others())]
        .filter(({ to }) => query.to === undefined || to.toLowerCase() === query.to.toLowerCase())
        .sort((one, other) => Date.parse(one.sent_at) - Date.parse(other.sent_at));
      return { object: 'list' as const, data: data.map(describe).reverse() };
    },
  });
}

/** Mails leave just after the reply that caused them: a script that asks at once should find its own. */
async function mailsLeft(ctx: Context): Promise<void> {
  for (const end = Date.now() + PATIENCE; Date.now() < end; await sleep(20)) {
    const waiting = await ctx.db
      .selectFrom('mail_outbox')
      .select('id')
      .where('attempts', '<=', 1)
      .limit(1)
      .execute();
    if (waiting.length === 0) return;
  }
}

function describe(mail: ReturnType<MailServer['mails']>[number]) {
  return { object: 'mail' as const, ...mail, links: mail.text.match(/https?:\/\/\S+/g) ?? [] };
}
