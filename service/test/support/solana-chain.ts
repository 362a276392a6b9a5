import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createFault, type Fault } from '@causeway/sandbox/simulators/fault.ts';
import { closeServer } from '@causeway/sandbox/simulators/ports.ts';
import { openChain, type SolanaChain } from '@causeway/sandbox/simulators/solana/chain.ts';
import { solanaGenesis } from '@causeway/sandbox/simulators/solana/genesis.ts';
import { createNode, type NodeFaults } from '@causeway/sandbox/simulators/solana/node.ts';
import { createRpcServer } from '@causeway/sandbox/simulators/solana/rpc-server.ts';

/**
 * A node of the test chain. While the node runs, tests can change `faults` (how the node itself misbehaves) and `fault`
 * (a network fault between the node and its callers).
 */
export type TestNode = { url: string; faults: NodeFaults; fault: Fault };

export type TestSolana = {
  chain: SolanaChain;
  nodes: TestNode[];
  stop(): Promise<void>;
};

export type TestSolanaOptions = {
  /** Default: 4 slots. */
  finalityLag?: number;
  /** The duration of a slot. Default: 50 ms. With 0, slots advance only through `chain.mine`. */
  slotMs?: number;
  /** The number of nodes that serve the chain. Default: 1. */
  nodes?: number;
  /** The folder in which the chain is stored. Default: a folder that is deleted when the chain stops. */
  folder?: string;
};

/** Starts an embedded Solana chain with the sandbox's accounts, in this process. */
export async function startSolanaChain(options: TestSolanaOptions = {}): Promise<TestSolana> {
  const { finalityLag = 4, slotMs = 50 } = options;
  const folder = options.folder ?? (await mkdtemp(join(tmpdir(), 'causeway-solana-')));
  const chain = await openChain({
    journalPath: join(folder, 'solana.jsonl'),
    genesis: solanaGenesis,
    finalityLag,
    slotMs,
    now: () => Date.now() / 1000,
  });
  const served = Array.from({ length: options.nodes ?? 1 }, () => ({
    node: createNode(chain),
    fault: createFault(),
  }));
  const server = createRpcServer((path) => served[Number(path.slice(1))]);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    chain,
    nodes: served.map(({ node, fault }, index) => ({
      url: `http://127.0.0.1:${port}/${index}`,
      faults: node.faults,
      fault,
    })),
    stop: async () => {
      await closeServer(server);
      await chain.close();
      if (options.folder === undefined) await rm(folder, { recursive: true, force: true });
    },
  };
}
