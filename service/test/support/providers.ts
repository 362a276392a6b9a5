import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClock } from '@causeway/sandbox/simulators/clock.ts';
import { createControl } from '@causeway/sandbox/simulators/control.ts';
import { startDocuments } from '@causeway/sandbox/simulators/documents/simulator.ts';
import { startIdentity } from '@causeway/sandbox/simulators/identity/simulator.ts';
import { closeServer, createListen } from '@causeway/sandbox/simulators/ports.ts';
import type { SimulatorControls } from '@causeway/sandbox/simulators/start.ts';
import { settleApplicant } from '../../src/domain/identity/reconcile.ts';
import type { Config } from '../../src/kernel/config/config.ts';
import { START, type TestApp, testApp } from './app.ts';

export type Call = <Name extends keyof SimulatorControls>(
  name: Name,
  input: SimulatorControls[Name]['input'],
) => Promise<SimulatorControls[Name]['output']>;

export type Providers = {
  settings: Pick<Config, 'identity' | 'documents'>;
  call: Call;
  setClock(milliseconds: number): Promise<void>;
  pages: { identity: string; documents: string };
  stop(): Promise<void>;
};

/**
 * Starts the simulated providers in this process, with their own ports and data folder. `appToken`: the token that the
 * identity provider accepts. Default: a sandbox token.
 */
export async function startProviders({ appToken }: { appToken?: string } = {}): Promise<Providers> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-providers-'));
  const control = createControl('secret');
  const clock = createClock({ now_ms: START, running: false });
  const listen = await createListen(folder);
  const controlUrl = await listen('control', control.server);
  const environment = async (name: string) => {
    const subfolder = await mkdtemp(join(folder, name));
    return { folder: subfolder, control, clock, listen, started: {} };
  };
  const identityEnvironment = await environment('identity');
  if (appToken !== undefined)
    await writeFile(join(identityEnvironment.folder, 'keys.json'), JSON.stringify({ app_token: appToken }));
  const identity = await startIdentity(identityEnvironment);
  const documents = await startDocuments(await environment('documents'));
  return {
    settings: {
      identity: {
        url: identity.ready.url,
        appToken: identity.ready.app_token,
        secret: identity.ready.secret,
        webhookSecrets: [identity.ready.webhook_secret],
      },
      documents: {
        url: documents.ready.url,
        apiKey: documents.ready.api_key,
        templates: documents.ready.templates,
        webhookSecrets: [documents.ready.webhook_secret],
        webhookHeader: null,
        linkDays: 30,
      },
    },
    call: (name, input) => callControl(controlUrl, name, input),
    setClock: (now_ms) => clock.set({ now_ms, running: false }),
    pages: { identity: identity.ready.url, documents: documents.ready.page_url },
    stop: async () => {
      await identity.stop();
      await documents.stop();
      await closeServer(control.server);
      await rm(folder, { recursive: true });
    },
  };
}

async function callControl<Name extends keyof SimulatorControls>(
  url: string,
  name: Name,
  input: SimulatorControls[Name]['input'],
): Promise<SimulatorControls[Name]['output']> {
  const response = await fetch(`${url}/${name}`, {
    method: 'POST',
    headers: { authorization: 'Bearer secret' },
    body: JSON.stringify(input),
  });
  const body = (await response.json()) as SimulatorControls[Name]['output'];
  if (!response.ok) throw new Error(`${name}: ${JSON.stringify(body)}`);
  return body;
}

export type World = TestApp & {
  providers: Providers;
  call: Call;
  /** The URL of the application. */
  url: string;
  /**
   * Changes the user's applicant, which is the user's record at the identity provider. Waits until the service has
   * applied the change.
   */
  review(
    userId: string,
    input: Omit<SimulatorControls['identity/review']['input'], 'user_id' | 'kind' | 'email'> & {
      kind?: 'person' | 'company';
    },
  ): Promise<void>;
  /** Creates a user with a token. */
  newUser(): Promise<{ userId: string; token: string }>;
  /** Advances the clocks of the service and the providers. */
  advance(seconds: number): Promise<void>;
};

/** Starts the application with both simulated providers. */
export async function startWorld(config: Partial<Config> = {}): Promise<World> {
  const providers = await startProviders();
  const one = await testApp({ config: { ...providers.settings, ...config } });
  const url = await one.app.listen({ host: '127.0.0.1', port: 0 });
  await providers.call('identity/webhook', { url: `${url}/webhooks/identity` });
  await providers.call('documents/webhook', { url: `${url}/webhooks/documents` });
  let users = 0;
  return {
    ...one,
    providers,
    call: providers.call,
    url,
    newUser: async () => {
      const userId = `01890000-0000-7000-8000-${String(++users).padStart(12, '0')}`;
      return { userId, token: await one.tokenFor({ userId }) };
    },
    review: async (userId, { kind = 'person', ...input }) => {
      await providers.call('identity/review', {
        user_id: userId,
        kind,
        email: `${userId}@user.test`,
        ...input,
      });
      await settleApplicant(one.ctx, userId);
    },
    advance: async (seconds) => {
      one.clock.advance(seconds);
      await providers.setClock(one.clock.now());
    },
    close: async () => {
      const closing = one.close();
      // The server would wait a minute for a connection that the simulators have opened but not used.
      one.app.server.closeAllConnections();
      await closing;
      await providers.stop();
    },
  };
}
