import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keccak256, toHex } from 'viem/utils';
import { createFault } from '../fault.ts';
import { closeServer } from '../ports.ts';
import type { StartSimulator } from '../simulator.ts';
import { openChain } from './chain.ts';
import { addControls } from './controls.ts';
import { type ChainDeployment, deploy, planDeployment } from './deploy.ts';
import { EMBEDDED_CHAINS, type EmbeddedChain, type EmbeddedChainName } from './embedded.ts';
import { chainGenesis, GENESIS_TIMESTAMP } from './genesis.ts';
import type { PlannedStep } from './plan.ts';
import { createRpcServer } from './rpc-server.ts';

export type { ChainsControls } from './controls.ts';

export type ReadyChain = {
  chain: EmbeddedChainName;
  chain_id: number;
  /** For anyone; never faulted. */
  rpc_url: string;
  /** For the service alone: faults apply here. */
  service_url: string;
  deployment: ChainDeployment;
};

/** Two EVM chains with the contracts on them, behind one JSON-RPC server. */
export const startChains: StartSimulator<ReadyChain[]> = async ({ folder, control, clock, listen }) => {
  const opened: Awaited<ReturnType<typeof openEmbedded>>[] = [];
  for (const embedded of EMBEDDED_CHAINS) {
    opened.push(await openEmbedded(embedded, folder, () => clock.now() / 1000));
  }
  const serviceKey = await rememberSecret(join(folder, 'service-key'));
  const served = new Map<string, (typeof opened)[number]>(opened.map((each) => [each.embedded.chain, each]));
  const server = createRpcServer(served, serviceKey);
  addControls(control, served);
  // A chain that mines only on demand must still show the new time to what reads it.
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
  let deployed = false;
  const chain = await openChain(
    {
      genesis: chainGenesis(embedded.chainId),
      journalPath: join(folder, `${embedded.chain}.jsonl`),
      // The deployment's blocks are the same everywhere, their time included.
      now: () => (deployed ? now() : GENESIS_TIMESTAMP),
    },
    () => plan.steps.length,
  );
  await deploy(chain, embedded.chainId, plan.steps);
  deployed = true;
  return { embedded, chain, fault: createFault(), deployment: plan.deployment };
}

// Another plan on the same data would take some addresses for other contracts.
async function checkPlan(path: string, steps: PlannedStep[]): Promise<void> {
  const current = keccak256(toHex(JSON.stringify(steps)));
  const known = await readFile(path, 'utf8').catch(() => '');
  if (known === '') await writeFile(path, current);
  else if (known !== current)
    throw new Error('the contracts have changed since this data folder was made: delete it to start over');
}

async function rememberSecret(path: string): Promise<string> {
  const known = await readFile(path, 'utf8').catch(() => '');
  if (known !== '') return known;
  const secret = randomBytes(16).toString('hex');
  await writeFile(path, secret, { mode: 0o600 });
  return secret;
}
