import type { EvmChainName } from '@causeway/service/chain/chains.ts';
import type { Clock } from '@causeway/service/clock.ts';
import type { Config } from '@causeway/service/config.ts';
import type { Context } from '@causeway/service/context.ts';
import type { Route } from '@causeway/service/http/route.ts';
import { testWallets } from './chains/keys.ts';
import { chainRoutes } from './chains/routes.ts';
import { clockRoutes } from './clock.ts';
import { type FaultTargets, faultRoute } from './faults.ts';
import { overviewRoute } from './overview.ts';
import { type Outside, startOutside } from './start-outside.ts';

export type Sandbox = { routes: Route[]; readyLines: string[] };

/** The simulated outside world, running, before the service that talks to it is built. */
export type OpenOutside = {
  rpcUrls: Partial<Record<EvmChainName, string[]>>;
  startSandbox(ctx: Context): Promise<Sandbox>;
  stop(): Promise<void>;
};

type Options = { config: Config; clock: Clock; say(text: string): void };

export async function openOutside({ config, clock, say }: Options): Promise<OpenOutside> {
  say('Starting the embedded chains …');
  const setting = { now_ms: clock.now(), running: config.clock === 'real' };
  const outside = await startOutside({ dataDir: config.dataDir, clock: setting });
  return {
    rpcUrls: Object.fromEntries(outside.chains.map(({ chain, service_url }) => [chain, [service_url]])),
    startSandbox: async (ctx) => startSandbox(ctx, outside),
    stop: outside.stop,
  };
}

/** The controls over it. */
function startSandbox(ctx: Context, outside: Outside): Sandbox {
  const faults: FaultTargets = new Map(
    outside.chains.map(({ chain }) => [
      `rpc:${chain}`,
      (mode, for_seconds) =>
        outside.control.call('chains/fault', {
          chain,
          mode,
          ...(for_seconds !== undefined && { for_seconds }),
        }),
    ]),
  );
  const overview = () => ({
    base_url: ctx.baseUrl,
    docs_url: `${ctx.baseUrl}/docs`,
    chains: outside.chains.map(({ chain, chain_id, rpc_url, deployment }) => ({
      chain,
      chain_id,
      rpc_url,
      tokens: deployment.tokens.map(({ asset_id, code, address, decimals }) => ({
        asset_id,
        code,
        address,
        decimals,
      })),
    })),
    wallets: testWallets,
  });
  const moved = () => outside.control.call('clock/set', { now_ms: ctx.clock.now(), running: false });
  return {
    routes: [
      overviewRoute(overview),
      ...clockRoutes(moved),
      ...chainRoutes(outside.control),
      faultRoute(faults),
    ],
    readyLines: ['', `  curl ${ctx.baseUrl}/sandbox`],
  };
}
