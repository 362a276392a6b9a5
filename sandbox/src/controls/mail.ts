import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '@causeway/service/context.ts';
import { publicRoute } from '@causeway/service/http/route.ts';
import { Closed, ObjectName, Timestamp } from '@causeway/service/http/wire.ts';
import Type from 'typebox';
import type { MailServer } from '../simulators/mail-server.ts';
import type { Simulators } from '../simulators/start.ts';
import type { ControlGroup } from './control-group.ts';
import { hasQueuedMail } from './store.ts';

const Mail = Closed({
  object: ObjectName('mail'),
  to: Type.String(),
  subject: Type.String(),
  text: Type.String(),
  links: Type.Array(Type.String()),
  sent_at: Timestamp,
});

const DELIVERY_TIMEOUT_MS = 3_000;

/** The mail sent by the service and by the documents provider. */
export function mailControls(mailServer: MailServer, simulators: Simulators): ControlGroup {
  return {
    routes: [
      publicRoute({
        method: 'GET',
        path: '/sandbox/mail',
        operationId: 'listMails',
        summary: 'List mail sent by the service and the documents provider, newest first',
        query: Type.Object({ to: Type.Optional(Type.String()) }),
        reply: Closed({ object: ObjectName('list'), data: Type.Array(Mail) }),
        handle: async (ctx, _caller, { query }) => {
          await waitForDelivery(ctx);
          const data = [...mailServer.mails(), ...(await listDocumentMails(simulators))]
            .filter(({ to }) => query.to === undefined || to.toLowerCase() === query.to.toLowerCase())
            .sort((a, b) => Date.parse(a.sent_at) - Date.parse(b.sent_at));
          return { object: 'list' as const, data: data.map(toWire).reverse() };
        },
      }),
    ],
  };
}

/** The service sends mail after it replies. Waiting lets a script list the mail it has just caused. */
async function waitForDelivery({ db }: Context): Promise<void> {
  for (const deadline = Date.now() + DELIVERY_TIMEOUT_MS; Date.now() < deadline; await sleep(20))
    if (!(await hasQueuedMail(db))) return;
}

type ListedMail = { to: string; subject: string; text: string; sent_at: string };

async function listDocumentMails({ control }: Simulators): Promise<ListedMail[]> {
  const { mails } = await control.call('documents/mails', {});
  return mails.map(({ to, subject, link, at }) => ({
    to,
    subject,
    text: `Please read and sign the form:\n\n${link}\n`,
    sent_at: `${at.slice(0, -1)}000Z`,
  }));
}

function toWire({ to, subject, text, sent_at }: ListedMail) {
  return { object: 'mail' as const, to, subject, text, sent_at, links: text.match(/https?:\/\/\S+/g) ?? [] };
}
