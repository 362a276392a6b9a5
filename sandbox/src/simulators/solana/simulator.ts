import { join } from 'node:path';
import { createFault } from '../fault.ts';
import { closeServer } from '../ports.ts';
import { readOrCreateSecret } from '../secret-file.ts';
import type { StartSimulator } from '../simulator.ts';
import { openChain } from './chain.ts';
import { SOLANA_CHAIN } from './chain-name.ts';
import { addSolanaControls } from './controls.ts';
import { type SolanaDeployment, solanaDeployment, solanaGenesis } from './genesis.ts';
import { createNode } from './node.ts';
import { createRpcServer } from './rpc-server.ts';

export type { SolanaControls } from './controls.ts';

export type ReadySolana = {
  chain: typeof SOLANA_CHAIN;
  /** The URL of the public node, which never has faults. */
  rpc_url: string;
  /** The secret URL of the service's node. Controls inject faults into this node only. */
  service_url: string;
  deployment: SolanaDeployment;
};

const SLOT_MS = 400;
/** How many slots must follow before a slot is final. On the public networks: about 31 slots, or 13 seconds. */
const FINALITY_LAG_SLOTS = 4;

/** Starts the embedded Solana chain behind a JSON-RPC server. */
export const startSolana: StartSimulator<ReadySolana> = async ({ folder, control, clock, listen }) => {
  const chain = await openChain({
    journalPath: join(folder, `${SOLANA_CHAIN}.jsonl`),
    genesis: solanaGenesis,
    finalityLag: FINALITY_LAG_SLOTS,
    slotMs: SLOT_MS,
    now: () => clock.now() / 1000,
  });
  const serviceKey = await readOrCreateSecret(join(folder, 'service-key'));
  const publicNode = { node: createNode(chain) };
  const serviceNode = { node: createNode(chain), fault: createFault() };
  const nodes = new Map<string, { node: ReturnType<typeof createNode> }>([
    [`/${SOLANA_CHAIN}`, publicNode],
    [`/${SOLANA_CHAIN}/${serviceKey}`, serviceNode],
  ]);
  const server = createRpcServer((path) => nodes.get(path));
  addSolanaControls(control, { chain, fault: serviceNode.fault, node: serviceNode.node });
  // Slots advance in real time, so that the chain keeps running while the test clock is stopped. Moving the test clock
  // forward adds the slots for the skipped time.
  let lastNow = clock.now();
  clock.onChange(async () => {
    const passed = Math.floor((clock.now() - lastNow) / SLOT_MS);
    lastNow = clock.now();
    if (passed > 0) chain.mine(passed);
  });
  const url = await listen('solana', server);
  return {
    ready: {
      chain: SOLANA_CHAIN,
      rpc_url: `${url}/${SOLANA_CHAIN}`,
      service_url: `${url}/${SOLANA_CHAIN}/${serviceKey}`,
      deployment: solanaDeployment,
    },
    stop: async () => {
      await closeServer(server);
      await chain.close();
    },
  };
};
