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
import { participationControls, sandboxOperatorKey } from './controls/participations.ts';
import { providerSettings, providersShare, rememberCountry, signingMails } from './controls/providers.ts';
import { venueControls } from './controls/venue.ts';
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

export type Sandbox = { routes: Route[]; plugins: Plugin[]; readyLines: string[] };

/**
 * The simulated outside world: first its servers, whose addresses the service is configured with as an
 * operator would; then, once the service's parts live, the seeds and the controls.
 */
export type World = {
  settings: Partial<Config>;
  join(ctx: Context): Promise<Sandbox>;
  stop(): Promise<void>;
};

export async function startWorld(config: Config, clock: Clock, say: (text: string) => void): Promise<World> {
  say('Starting the simulated outside world …');
  const mailServer = await startMailServer(join(config.dataDir, 'outside', 'mail.jsonl'));
  const setting = { now_ms: clock.now(), running: config.clock === 'real' };
  const [outside, demo] = await Promise.all([
    startSimulators({ dataDir: config.dataDir, clock: setting }),
    startDemoIfWanted(config, say),
  ]);
  const rpcUrls = Object.fromEntries(outside.chains.map(({ chain, service_url }) => [chain, [service_url]]));
  return {
    settings: {
      smtpUrl: config.smtpUrl ?? mailServer.smtpUrl,
      rpcUrls: { ...rpcUrls, ...config.rpcUrls },
      operatorKey: config.operatorKey ?? sandboxOperatorKey(),
      supplierKey: config.supplierKey ?? deriveSandboxKey('supplier'),
      venue: config.venue ?? { url: outside.venue.url, apiKey: outside.venue.api_key },
      ...providerSettings(config, outside),
    },
    join: async (ctx) => {
      const moved = () => outside.control.call('clock/set', { now_ms: ctx.clock.now(), running: false });
      const shares = [
        await partnersShare(ctx, appOf(demo)),
        demoControls(ctx, demo),
        await accountControls(ctx, mailServer, rememberCountry(outside), () => signingMails(outside)),
        chainControls(outside),
        await providersShare(ctx, outside),
        venueControls(outside, ctx),
        await offersShare(ctx, outside.chains),
        { routes: clockRoutes(moved) },
        { routes: participationControls },
      ];
      return putTogether(ctx, shares);
    },
    stop: async () => {
      await demo?.stop();
      await outside.stop();
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

function putTogether(ctx: Context, shares: ControlGroup[]): Sandbox {
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
