import { setTimeout as sleep } from 'node:timers/promises';
import { sendPage } from '@causeway/service/domain/accounts/page-route.ts';
import { html } from '@causeway/service/kernel/html.ts';
import { Closed, ObjectName, Timestamp } from '@causeway/service/kernel/wire.ts';
import type { Context } from '@causeway/service/platform/context/context.ts';
import { publicRoute } from '@causeway/service/platform/http/route.ts';
import type { Page } from '@causeway/service/platform/pages/layout.ts';
import Type from 'typebox';
import type { MailServer } from '../simulators/mail-server.ts';
import type { Simulators } from '../simulators/start.ts';
import type { ControlGroup } from './control-group.ts';
import { assertLocal } from './local-only.ts';
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
const REFRESH_INTERVAL_S = 5;

/** The mail sent by the service and by the documents provider. */
export function mailControls(ctx: Context, mailServer: MailServer, simulators: Simulators): ControlGroup {
  const listMails = async () => {
    await waitForDelivery(ctx);
    return [...mailServer.mails(), ...(await listDocumentMails(simulators))]
      .sort((a, b) => Date.parse(a.sent_at) - Date.parse(b.sent_at))
      .reverse();
  };
  return {
    plugins: [
      (app) => {
        app.get('/sandbox/mailbox', { config: { access: { who: 'public' } } }, async (request, reply) => {
          assertLocal(ctx, request.headers);
          reply.header('refresh', String(REFRESH_INTERVAL_S));
          return sendPage(reply, mailboxPage((await listMails()).map(toWire)), 200);
        });
      },
    ],
    routes: [
      publicRoute({
        method: 'GET',
        path: '/sandbox/mail',
        operationId: 'listMails',
        summary: 'List mail sent by the service and the documents provider, newest first',
        query: Type.Object({ to: Type.Optional(Type.String()) }),
        reply: Closed({ object: ObjectName('list'), data: Type.Array(Mail) }),
        handle: async (_ctx, _caller, { query }) => {
          const data = (await listMails()).filter(
            ({ to }) => query.to === undefined || to.toLowerCase() === query.to.toLowerCase(),
          );
          return { object: 'list' as const, data: data.map(toWire) };
        },
      }),
    ],
  };
}

/**
 * Waits until no mail is queued, but at most three seconds. The service sends mail after it replies, so without this
 * wait a script could miss mail that it has just triggered.
 */
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

/** The mailbox page for sandboxes without the demo. (The demo has its own mailbox.) */
function mailboxPage(mails: readonly ReturnType<typeof toWire>[]): Page {
  const row = ({ to, subject, links, sent_at }: ReturnType<typeof toWire>) =>
    html`<li class="plain"><div><p class="name">${subject}</p><p class="soft small">To ${to}, ${new Date(sent_at).toUTCString()}</p></div>
${links[0] !== undefined && html`<a class="button quiet slim" href="${links[0]}">Open link</a>`}</li>`;
  return {
    title: 'Sandbox mailbox',
    wide: true,
    body: html`<h1>Sandbox mailbox</h1>
<p class="lead">Emails to every sandbox user. Nothing is really sent.</p>
${mails.length === 0 ? html`<p>No mail yet. Email confirmations and forms to sign arrive here.</p>` : html`<ul class="rows">${mails.map(row)}</ul>`}`,
  };
}

function toWire({ to, subject, text, sent_at }: ListedMail) {
  return { object: 'mail' as const, to, subject, text, sent_at, links: text.match(/https?:\/\/\S+/g) ?? [] };
}
