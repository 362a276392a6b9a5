import { join } from 'node:path';
import type { Clock } from '@causeway/service/clock.ts';
import type { Config } from '@causeway/service/config.ts';
import type { Context } from '@causeway/service/context.ts';
import type { Route } from '@causeway/service/http/route.ts';
import type { Plugin } from '@causeway/service/http/server.ts';
import { deriveSandboxKey } from '@causeway/service/operator/sandbox-keys.ts';
import { accountControls } from './controls/accounts.ts';
import { chainControls } from './controls/chains.ts';
import { clockRoutes } from './controls/clock.ts';
import { demoControls } from './controls/demo.ts';
import { type FaultTargets, faultRoute } from './controls/faults.ts';
import { overviewRoute } from './controls/overview.ts';
import { participationControls } from './controls/participations.ts';
import { documentMails, providerSettings, providersShare, rememberCountry } from './controls/providers.ts';
import { venueControls } from './controls/venue.ts';
import { sandboxOperatorKey } from './seed/keys.ts';
import { offersShare } from './seed/offers.ts';
import { partnersShare } from './seed/partners.ts';
import { startMailServer } from './simulators/mail-server.ts';
import { startSimulators } from './simulators/start.ts';
import { type Demo, startDemo } from './start-demo.ts';

/** What one part of the sandbox brings: members of `GET /sandbox`, controls, things that can be made to fail, lines to print. */
export type ControlGroup = {
  overview?: () => Record<string, unknown> | Promise<Record<string, unknown>>;
  routes?: Route[];
  faults?: FaultTargets;
  /** For what is not JSON. */
  plugins?: Plugin[];
  readyLines?: string[];
};

export type Controls = { routes: Route[]; plugins: Plugin[]; readyLines: string[] };

/**
 * The simulated providers: first its servers, whose addresses the service is configured with as an
 * operator would; then, once the service's parts live, the seeds and the controls.
 */
export type Sandbox = {
  settings: Partial<Config>;
  attach(ctx: Context): Promise<Controls>;
  stop(): Promise<void>;
};

export async function startSandbox(
  config: Config,
  clock: Clock,
  say: (text: string) => void,
): Promise<Sandbox> {
  say('Starting the simulated providers …');
  const mailServer = await startMailServer(join(config.dataDir, 'outside', 'mail.jsonl'));
  const setting = { now_ms: clock.now(), running: config.clock === 'real' };
  const [simulators, demo] = await Promise.all([
    startSimulators({ dataDir: config.dataDir, clock: setting }),
    startDemoIfWanted(config, say),
  ]);
  const rpcUrls = Object.fromEntries(
    simulators.chains.map(({ chain, service_url }) => [chain, [service_url]]),
  );
  return {
    settings: {
      smtpUrl: config.smtpUrl ?? mailServer.smtpUrl,
      rpcUrls: { ...rpcUrls, ...config.rpcUrls },
      operatorKey: config.operatorKey ?? sandboxOperatorKey(),
      supplierKey: config.supplierKey ?? deriveSandboxKey('supplier'),
      venue: config.venue ?? { url: simulators.venue.url, apiKey: simulators.venue.api_key },
      ...providerSettings(config, simulators),
    },
    attach: async (ctx) => {
      const moved = () => simulators.control.call('clock/set', { now_ms: ctx.clock.now(), running: false });
      const shares = [
        await partnersShare(ctx, appOf(demo)),
        demoControls(ctx, demo),
        await accountControls(ctx, mailServer, rememberCountry(simulators), () => documentMails(simulators)),
        chainControls(simulators),
        await providersShare(ctx, simulators),
        venueControls(simulators, ctx),
        await offersShare(ctx, simulators.chains),
        { routes: clockRoutes(moved) },
        { routes: participationControls },
      ];
      return putTogether(ctx, shares);
    },
    stop: async () => {
      await demo?.stop();
      await simulators.stop();
      await mailServer.stop();
    },
  };
}

/** The demo is an extra: without it there is still a sandbox. */
async function startDemoIfWanted(config: Config, say: (text: string) => void): Promise<Demo | null> {
  if (!config.demo) return null;
  return startDemo(config, say).catch((error: Error) => {
    say(`There is no demo app: ${error.message}`);
    return null;
  });
}

function appOf(demo: Demo | null) {
  return demo === null ? {} : { redirectUris: [`${demo.url}/callback`], origins: [demo.url] };
}

function putTogether(ctx: Context, shares: ControlGroup[]): Controls {
  const overview = async () =>
    Object.assign(
      { base_url: ctx.baseUrl, docs_url: `${ctx.baseUrl}/docs` },
      ...(await Promise.all(shares.map((share) => share.overview?.() ?? {}))),
    );
  const faults = new Map(shares.flatMap((share) => [...(share.faults ?? [])]));
  return {
    routes: [overviewRoute(overview), faultRoute(faults), ...shares.flatMap((share) => share.routes ?? [])],
    plugins: shares.flatMap((share) => share.plugins ?? []),
    readyLines: [
      '',
      ...shares.flatMap((share) => share.readyLines ?? []),
      '',
      `  curl ${ctx.baseUrl}/sandbox`,
    ],
  };
}
