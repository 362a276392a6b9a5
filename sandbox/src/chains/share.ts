import type { Share } from '../start.ts';
import type { Outside } from '../start-outside.ts';
import { testWallets } from './keys.ts';
import { chainRoutes } from './routes.ts';

/** The embedded chains, their tokens and the wallets that hold some. */
export function chainsShare({ chains, control }: Outside): Share {
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
