import { writeFile } from 'node:fs/promises';
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUTHORITY, LOCALHOST } from '../support/certificates.ts';
import { startProviders } from '../support/providers.ts';
import { callerOf, SLUG, type User } from './investors.ts';
import type { Load, MoreLoad, Send } from './load.ts';

const POLL_INTERVAL_MS = 200;
const SIGNING_TIMEOUT_MS = 30_000;
const PATH = '/v1/documents/tax_certification/submission';

export type FormProvider = Awaited<ReturnType<typeof startFormProvider>>;

/** Starts a simulated signing provider that production nodes accept, because they reach it over TLS. */
export async function startFormProvider(folder: string) {
  const providers = await startProviders();
  await providers.setClock(Date.now());
  const { documents } = providers.settings;
  if (documents === null) throw new Error('the simulated provider has no settings');
  const forward = (incoming: IncomingMessage, response: ServerResponse) => {
    const { method, headers } = incoming;
    const url = new URL(String(incoming.url), documents.url);
    incoming.pipe(
      request(url, { method, headers }, (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      }),
    );
  };
  const server = createServer(LOCALHOST, forward);
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const authority = join(folder, 'authority.pem');
  await writeFile(authority, AUTHORITY);
  return {
    settings: {
      NODE_EXTRA_CA_CERTS: authority,
      DOCUSEAL_URL: `https://localhost:${(server.address() as AddressInfo).port}/api`,
      DOCUSEAL_API_KEY: documents.apiKey,
    },
    webhookSecret: String(documents.webhookSecrets[0]),
    /** Sends webhooks to this node from now on. */
    notify: (nodeUrl: string) =>
      providers.call('documents/webhook', { url: `${nodeUrl}/webhooks/documents` }),
    /** Signs the form that the user received by mail. */
    sign: async ({ email }: User): Promise<void> => {
      const { mails } = await providers.call('documents/mails', { to: email });
      const body = new URLSearchParams({ Signature: 'Ada Lovelace' });
      const reply = await fetch(mails[0]?.link ?? '', { method: 'POST', body });
      if (!reply.ok) throw new Error(`signing failed: ${reply.status} ${await reply.text()}`);
    },
    close: async () => {
      server.close();
      server.closeAllConnections();
      await providers.stop();
    },
  };
}

/** Returns a load in which one user after another asks for a form `times` times and is then added to `sent`. */
export function submittingForms(
  users: readonly User[],
  sent: User[],
  { intervalMs, times }: { intervalMs: number; times: number },
): MoreLoad {
  return async (send, load, isRunning) => {
    for (const user of users) {
      if (!isRunning()) return;
      const call = callerOf(send, user);
      for (let attempt = 0; attempt < times; attempt++) {
        const form = await call('POST', PATH, { 'Full Name': 'Ada Lovelace', Country: 'Portugal' });
        if (form !== null && form.status !== 'SENT')
          load.failures.push(`form of ${user.email}: ${form.status}`);
      }
      sent.push(user);
      await sleep(intervalMs);
    }
  };
}

/** Signs the form, and waits until the node reports the requirement as completed. */
export async function signForm(provider: FormProvider, send: Send, user: User, load: Load): Promise<void> {
  const call = callerOf(send, user);
  await provider.sign(user);
  const offer = await call('GET', `/v1/offers/${SLUG}`);
  const end = Date.now() + SIGNING_TIMEOUT_MS;
  for (;;) {
    const reply = await call('GET', `/v1/offers/${offer?.id}/requirements/statuses`);
    if (Object.values(reply?.statuses ?? {}).includes('completed')) return;
    if (Date.now() > end) {
      load.failures.push(`form of ${user.email}: ${JSON.stringify(reply?.statuses)}`);
      return;
    }
    await sleep(POLL_INTERVAL_MS);
  }
}
