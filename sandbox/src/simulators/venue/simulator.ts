import { venueManager } from '@causeway/contracts/abi/venue-manager.ts';
import { venueOracle } from '@causeway/contracts/abi/venue-oracle.ts';
import { createPublicClient, createWalletClient, http } from 'viem';
import { sepolia } from 'viem/chains';
import { roles } from '../../seed/keys.ts';
import { planDeployment } from '../chains/deploy.ts';
import { MAX_PRICE_DEVIATION_BPS, NEVER_STALE_SECONDS } from '../chains/deploy-venue.ts';
import { EMBEDDED_CHAINS } from '../chains/embedded.ts';
import type { ReadyChain } from '../chains/simulator.ts';
import { createFault } from '../fault.ts';
import { closeServer } from '../ports.ts';
import type { StartSimulator } from '../simulator.ts';
import { addVenueControls } from './controls.ts';
import { pastPrices } from './history.ts';
import { createVenueServer } from './server.ts';
import { openVenueState } from './state.ts';

export type { VenueControls } from './controls.ts';

export type ReadyVenue = { url: string; api_key: string };

const RPC_TIMEOUT_MS = 10_000;
const EXPIRY_BLOCK_DELAY_MS = 1_000;

/**
 * Starts the pricing venue, which provides quotes, limits and signed attestations for the assets on the first embedded
 * chain.
 */
export const startVenue: StartSimulator<ReadyVenue> = async ({ folder, control, clock, listen, started }) => {
  const embedded = EMBEDDED_CHAINS[0];
  const deployment = planDeployment(embedded).deployment.venue;
  const rpcUrl = (started.chains as ReadyChain[]).find(({ chain }) => chain === embedded.chain)?.rpc_url;
  if (deployment === null || rpcUrl === undefined)
    throw new Error('the first embedded chain is not running or has no venue contracts');
  const transport = http(rpcUrl, { timeout: RPC_TIMEOUT_MS, retryCount: 0 });
  const batch = { multicall: true };
  const reader = createPublicClient({ chain: sepolia, transport, batch, cacheTime: 0, pollingInterval: 20 });
  const owner = createWalletClient({ chain: sepolia, transport, account: roles.venueOwner });
  const store = openVenueState(folder);
  const fault = createFault();
  const server = createVenueServer({
    store,
    fault,
    chain: { chainId: embedded.chainId, deployment },
    now: clock.now,
    attested: (expiration) => {
      // On chain, an order expires with the first block that is mined after its attestation's expiry. The chain mines
      // only on demand, so a timer mines that block.
      const mine = () => {
        if (clock.now() / 1000 <= expiration) return;
        control.call('chains/mine', { chain: embedded.chain, blocks: 1 }).catch(() => undefined);
      };
      setTimeout(mine, expiration * 1000 - clock.now() + EXPIRY_BLOCK_DELAY_MS).unref();
    },
    isExecuted: (id) =>
      reader.readContract({
        address: deployment.manager,
        abi: venueManager.abi,
        functionName: 'executedAttestationIds',
        args: [BigInt(id)],
      }),
  });
  addVenueControls(control, {
    store,
    fault,
    symbols: deployment.assets.map(({ symbol }) => symbol),
    readPast: () => pastPrices(store.state.seed, deployment.assets, clock.now()),
    postPrice: async (symbol, price) => {
      const asset = deployment.assets.find((each) => each.symbol === symbol);
      if (asset === undefined) return;
      const hash = await owner.writeContract({
        address: deployment.oracle,
        abi: venueOracle.abi,
        functionName: 'setPrice',
        args: [asset.address, price ?? BigInt(asset.price), NEVER_STALE_SECONDS, MAX_PRICE_DEVIATION_BPS],
        gas: 1_000_000n,
        maxFeePerGas: 1_000_000_000_000n,
        maxPriorityFeePerGas: 0n,
      });
      await reader.waitForTransactionReceipt({ hash, timeout: RPC_TIMEOUT_MS });
    },
  });
  const url = await listen('venue', server);
  return { ready: { url, api_key: store.state.api_key }, stop: () => closeServer(server) };
};
