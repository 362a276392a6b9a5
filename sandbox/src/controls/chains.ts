import { testWallets } from '../seed/keys.ts';
import type { Simulators } from '../simulators/start.ts';
import type { ControlGroup } from '../start.ts';
import { chainRoutes } from './chain-routes.ts';

/** The embedded chains, their tokens and the wallets that hold some. */
export function chainControls({ chains, control }: Simulators): ControlGroup {
  return {
    overview: () => ({
      chains: chains.map(({ chain, chain_id, rpc_url, deployment }) => ({
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
    }),
    routes: chainRoutes(control),
    faults: new Map(
      chains.map(({ chain }) => [
        `rpc:${chain}`,
        (mode, for_seconds) =>
          control.call('chains/fault', { chain, mode, ...(for_seconds !== undefined && { for_seconds }) }),
      ]),
    ),
  };
}
