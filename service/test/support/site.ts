import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ReceivedMail, startMailServer } from '@causeway/sandbox/simulators/mail-server.ts';
import { sql } from 'kysely';
import { hashPassword } from '../../src/domain/accounts/password.ts';
import { insertUser } from '../../src/domain/users/store.ts';
import { SCOPES } from '../../src/kernel/access.ts';
import type { Config } from '../../src/kernel/config/config.ts';
import { newId } from '../../src/kernel/ids.ts';
import type { UserKind } from '../../src/kernel/model/personal-data.ts';
import { hashSecret } from '../../src/kernel/secret-hash.ts';
import { startMailWorker } from '../../src/platform/mail/outbox.ts';
import { smtpMailer } from '../../src/platform/mail/smtp.ts';
import { type TestApp, testApp, testConfig } from './app.ts';

export const PASSWORD = 'quiet harbour lantern';

/** The service with hosted pages, a working mail server and a partner's site that receives the redirects. */
export type Site = TestApp & {
  url: string;
  partner: { clientId: string; secret: string; redirectUri: string };
  /** Waits for the newest mail to this address with a matching subject. */
  mailTo(email: string, subject: RegExp): Promise<ReceivedMail>;
  makeUser(email: string, kind?: UserKind): Promise<string>;
  /** Builds an authorization request for the partner's client. */
  authorizeUrl(parameters?: Record<string, string>): { url: string; verifier: string; state: string };
};

export async function startSite(config: Partial<Config> = {}): Promise<Site> {
  const dir = await mkdtemp(join(tmpdir(), 'causeway-mail-'));
  const callback = await startCallback();
  const limits = { ...testConfig().limits, sign_in: 1000, account_mail: 1000, account_forms: 10_000 };
  const app = await testApp({ config: { limits, ...config }, listen: true, baseUrl: 'http://localhost' });
  const { ctx } = app;
  const url = ctx.baseUrl;
  const mailServer = await startMailServer(join(dir, 'mail.jsonl'));
  const worker = await startMailWorker(ctx, smtpMailer(mailServer.smtpUrl, ctx.config.mailFrom, 'optional'));
  const partner = {
    clientId: 'harbour',
    secret: `cws_${randomBytes(32).toString('base64url')}`,
    redirectUri: `${callback.url}/callback`,
  };
  await registerPartner(app, partner);
  return {
    ...app,
    url,
    partner,
    mailTo: (email, subject) => waitForMail(() => mailServer.mails(), email, subject),
    makeUser: (email, kind = 'person') => makeUser(app, email, kind),
    authorizeUrl: (parameters = {}) => authorizeUrl(url, partner, parameters),
    close: async () => {
      await worker.stop();
      await mailServer.stop();
      await app.close();
      await callback.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

function authorizeUrl(
  url: string,
  { clientId, redirectUri }: Site['partner'],
  parameters: Record<string, string>,
) {
  const verifier = randomBytes(32).toString('base64url');
  const state = randomBytes(8).toString('hex');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: 'openid email offers:read participations:read participations:write wallets:write',
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...parameters,
  });
  return { url: `${url}/oauth/authorize?${query}`, verifier, state };
}

async function registerPartner(
  { ctx }: TestApp,
  { clientId, secret, redirectUri }: Site['partner'],
): Promise<void> {
  const id = newId(ctx.clock, ctx.random);
  const logo = new URL('/logo.svg', redirectUri).href;
  await sql`insert into partners (id, name, logo_url) values (${id}, 'Harbour Invest', ${logo})`.execute(
    ctx.db,
  );
  const client = {
    client_id: clientId,
    partner_id: id,
    redirect_uris: [redirectUri],
    scopes: Object.keys(SCOPES),
    secret_hash: hashSecret(secret),
  };
  await ctx.db
    .insertInto('oauth_clients')
    .values({ ...client, previous_secret_hash: null, previous_secret_until: null })
    .execute();
}

async function makeUser({ ctx }: TestApp, email: string, kind: UserKind): Promise<string> {
  const id = newId(ctx.clock, ctx.random);
  await insertUser(ctx.db, { id, email, kind, password_hash: await hashPassword(ctx, PASSWORD) });
  return id;
}

async function waitForMail(
  mails: () => readonly ReceivedMail[],
  email: string,
  subject: RegExp,
): Promise<ReceivedMail> {
  for (let attempt = 0; attempt < 500; attempt++) {
    const found = mails().findLast((mail) => mail.to === email && subject.test(mail.subject));
    if (found !== undefined) return found;
    await sleep(20);
  }
  throw new Error(`no mail with subject ${subject} arrived for ${email}`);
}

/** Returns the first link in the mail. */
export function linkIn({ text }: ReceivedMail): string {
  return /https?:\/\/\S+/.exec(text)?.[0] ?? '';
}

const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 48 48"><rect width="48" height="48" fill="#274c77"/><circle cx="24" cy="24" r="11" fill="#f4d35e"/></svg>';

async function startCallback() {
  const server = createServer((request, response) => {
    if (request.url === '/logo.svg')
      return void response.setHeader('content-type', 'image/svg+xml').end(LOGO);
    response
      .setHeader('content-type', 'text/html')
      .end('<!doctype html><title>Harbour</title><h1>Back at Harbour</h1>');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://localhost:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
