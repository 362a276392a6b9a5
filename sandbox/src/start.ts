import { join } from 'node:path';
import { prepareOfferFiles } from '@causeway/service/domain/offer-files/file.ts';
import { importPrices } from '@causeway/service/domain/tokenized/price-recorder.ts';
import type { Clock } from '@causeway/service/kernel/clock.ts';
import type { Config } from '@causeway/service/kernel/config/config.ts';
import type { Context } from '@causeway/service/platform/context/context.ts';
import { localhostUrl } from '@causeway/service/platform/http/visited-url.ts';
import type { SandboxLanding } from '@causeway/service/platform/pages/landing-page.ts';
import { restoreClock } from './clock-file.ts';
import { chainControls } from './controls/chains.ts';
import { clockControls } from './controls/clock.ts';
import type { ControlGroup, Controls } from './controls/control-group.ts';
import { demoControls } from './controls/demo.ts';
import { documentControls } from './controls/documents.ts';
import { faultRoute } from './controls/faults.ts';
import { holdControls } from './controls/holds.ts';
import { identityControls } from './controls/identity.ts';
import { inboxControls } from './controls/inbox.ts';
import { localOnly } from './controls/local-only.ts';
import { mailControls } from './controls/mail.ts';
import { offerControls } from './controls/offers.ts';
import { overviewRoute } from './controls/overview.ts';
import { participationControls } from './controls/participations.ts';
import { tokenControls } from './controls/token.ts';
import { userControls } from './controls/users.ts';
import { venueControls } from './controls/venue.ts';
import { seedOffers } from './seed/offers.ts';
import { seedPartners } from './seed/partners.ts';
import { seedUsers } from './seed/users.ts';
import { sandboxSettings } from './settings.ts';
import { startInboxes } from './simulators/inbox.ts';
import { startMailServer } from './simulators/mail-server.ts';
import { type Simulators, startSimulators } from './simulators/start.ts';
import { type Demo, startDemo } from './start-demo.ts';

type Print = (text: string) => void;

/** The chains, providers, mail server and demo app that surround one service. */
export type Sandbox = {
  /** Settings that point the service at the simulators. Explicit settings take precedence. */
  settings: Partial<Config>;
  /**
   * Seeds users, partners and offers, and returns the controls (the sandbox's own routes). Called after the service's
   * context is built.
   */
  attach(ctx: Context): Promise<Controls>;
  /** Stops everything. Kills child processes that are still running after `forceAfterMs`. */
  stop(forceAfterMs: number): Promise<void>;
};

export async function startSandbox(config: Config, clock: Clock, print: Print): Promise<Sandbox> {
  print('Starting the simulated chains and providers …');
  const mailServer = await startMailServer(join(config.dataDir, 'outside', 'mail.jsonl'));
  const inboxes = await startInboxes(join(config.dataDir, 'outside', 'inbox'));
  const storeClock = await restoreClock(clock, join(config.dataDir, 'outside', 'clock.json'));
  const setting = { now_ms: clock.now(), running: config.clock === 'real' };
  const starting = Promise.all([
    startSimulators({ dataDir: config.dataDir, clock: setting }),
    startOptionalDemo(config, print),
  ]);
  // Compiles the schema of offer files while the simulators and the demo app start in child processes.
  prepareOfferFiles();
  const [simulators, demo] = await starting;
  return {
    settings: sandboxSettings(config, simulators, mailServer, demo?.url ?? null),
    attach: async (ctx) => {
      await connectWebhooks(ctx, simulators);
      await seedPartners(ctx, demo?.url ?? null);
      const users = await seedUsers(ctx);
      await seedOffers(ctx, simulators);
      await importPrices(ctx, async () => (await simulators.control.call('venue/history', {})).prices);
      const landing = { demoUrl: demo?.url ?? null, accountUrl: localhostUrl(ctx) ?? ctx.baseUrl, users };
      return combineControls(ctx, landing, [
        tokenControls(ctx),
        demoControls(ctx, demo),
        userControls(ctx, users, simulators),
        mailControls(ctx, mailServer, simulators),
        chainControls(simulators),
        identityControls(simulators),
        documentControls(simulators),
        venueControls(ctx, simulators),
        await offerControls(ctx),
        clockControls(simulators, storeClock),
        holdControls,
        inboxControls(inboxes),
        participationControls,
      ]);
    },
    stop: async (forceAfterMs) =>
      void (await Promise.all([
        demo?.stop(forceAfterMs),
        simulators.stop(forceAfterMs),
        mailServer.stop(),
        inboxes.stop(),
      ])),
  };
}

/** Starts the demo app if it is enabled. The sandbox also runs without it. */
async function startOptionalDemo(config: Config, print: Print): Promise<Demo | null> {
  if (!config.demo) return null;
  return startDemo(config, print).catch((error: Error) => {
    print(`The demo app could not be started: ${error.message}`);
    return null;
  });
}

async function connectWebhooks({ baseUrl }: Context, { control }: Simulators): Promise<void> {
  await control.call('identity/webhook', { url: `${baseUrl}/webhooks/identity` });
  await control.call('documents/webhook', { url: `${baseUrl}/webhooks/documents` });
}

function combineControls(ctx: Context, landing: SandboxLanding, groups: ControlGroup[]): Controls {
  const overview = async () =>
    Object.assign(
      { base_url: ctx.baseUrl, docs_url: `${ctx.baseUrl}/docs` },
      ...(await Promise.all(groups.map((group) => group.overview?.() ?? {}))),
    );
  const faults = new Map(groups.flatMap((group) => [...(group.faults ?? [])]));
  const routes = [
    overviewRoute(overview),
    faultRoute(faults),
    ...groups.flatMap((group) => group.routes ?? []),
  ];
  return {
    routes: routes.map((route) => localOnly(ctx, route)),
    document: async () => (await import('../../service/generate/openapi/document.ts')).apiDocument(routes),
    plugins: groups.flatMap((group) => group.plugins ?? []),
    landing,
    readyLines: [
      '',
      ...groups.flatMap((group) => group.readyLines ?? []),
      '',
      `  curl ${ctx.baseUrl}/sandbox`,
    ],
  };
}
