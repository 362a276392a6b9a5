import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createFault } from '../fault.ts';
import { closeServer } from '../ports.ts';
import { readOrCreateSecret } from '../secret-file.ts';
import type { StartSimulator } from '../simulator.ts';
import { openChain } from './chain.ts';
import { addChainControls } from './controls.ts';
import { type ChainDeployment, deploy, planDeployment } from './deploy.ts';
import { EMBEDDED_CHAINS, type EmbeddedChain, type EmbeddedChainName } from './embedded.ts';
import { chainGenesis, GENESIS_TIMESTAMP } from './genesis.ts';
import type { PlannedStep } from './plan.ts';
import { createRpcServer } from './rpc-server.ts';

export type { ChainsControls } from './controls.ts';

export type ReadyChain = {
  chain: EmbeddedChainName;
  chain_id: number;
  /** The URL of the public node, which never has faults. */
  rpc_url: string;
  /** The secret URL of the service's node. Controls inject faults into this node only. */
  service_url: string;
  deployment: ChainDeployment;
};

/** Starts the embedded chains behind one JSON-RPC server, and deploys the contracts. */
export const startChains: StartSimulator<ReadyChain[]> = async ({ folder, control, clock, listen }) => {
  const opened: Awaited<ReturnType<typeof openEmbedded>>[] = [];
  for (const embedded of EMBEDDED_CHAINS) {
    opened.push(await openEmbedded(embedded, folder, () => clock.now() / 1000));
  }
  const serviceKey = await readOrCreateSecret(join(folder, 'service-key'));
  const served = new Map<string, (typeof opened)[number]>(
    opened.map((chain) => [chain.embedded.chain, chain]),
  );
  const server = createRpcServer(served, serviceKey);
  addChainControls(control, served);
  // The chain mines on demand, so reads would not see the new time without a new block.
  clock.onChange(async () => {
    for (const { chain } of opened) await chain.mine(1);
  });
  const url = await listen('rpc', server);
  return {
    ready: opened.map(({ embedded, deployment }) => ({
      chain: embedded.chain,
      chain_id: embedded.chainId,
      rpc_url: `${url}/${embedded.chain}`,
      service_url: `${url}/${embedded.chain}/${serviceKey}`,
      deployment,
    })),
    stop: async () => {
      await closeServer(server);
      for (const { chain } of opened) await chain.close();
    },
  };
};

async function openEmbedded(embedded: EmbeddedChain, folder: string, now: () => number) {
  const plan = planDeployment(embedded);
  await checkPlan(join(folder, `${embedded.chain}.plan`), plan.steps);
  let isDeployed = false;
  const chain = await openChain(
    {
      genesis: chainGenesis(embedded.chainId),
      journalPath: join(folder, `${embedded.chain}.jsonl`),
      // Block times are fixed until the contracts are deployed, so that the deployment's blocks are the same in every
      // sandbox.
      now: () => (isDeployed ? now() : GENESIS_TIMESTAMP),
    },
    () => plan.steps.length,
  );
  await deploy(chain, embedded.chainId, plan.steps);
  isDeployed = true;
  return { embedded, chain, fault: createFault(), deployment: plan.deployment };
}

// Throws if the deployment plan differs from the plan that created this data folder. Different plans could deploy
// different contracts to the same address.
async function checkPlan(path: string, steps: PlannedStep[]): Promise<void> {
  const current = createHash('sha256').update(JSON.stringify(steps)).digest('hex');
  const stored = await readFile(path, 'utf8').catch(() => '');
  if (stored === current) return;
  if (stored !== '')
    throw new Error(
      'the contracts have changed since this data folder was created; delete the folder to start over',
    );
  await writeFile(path, current);
}
