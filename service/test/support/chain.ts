import { mkdtemp, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { type Chain, openChain } from '@causeway/sandbox/simulators/chains/chain.ts';
import { type ChainDeployment, deploy, planDeployment } from '@causeway/sandbox/simulators/chains/deploy.ts';
import { EMBEDDED_CHAINS, type EmbeddedChainName } from '@causeway/sandbox/simulators/chains/embedded.ts';
import { chainGenesis, GENESIS_TIMESTAMP } from '@causeway/sandbox/simulators/chains/genesis.ts';
import { createRpcServer } from '@causeway/sandbox/simulators/chains/rpc-server.ts';
import { createFault, type Fault } from '@causeway/sandbox/simulators/fault.ts';
import { closeServer, createListen } from '@causeway/sandbox/simulators/ports.ts';
import {
  type Abi,
  type Account,
  createPublicClient,
  createWalletClient,
  custom,
  type EncodeDeployDataParameters,
  encodeDeployData,
  type Hex,
  type PublicClient,
  type Transport,
  type Chain as ViemChain,
  type WalletClient,
} from 'viem';
import { baseSepolia, sepolia } from 'viem/chains';

export type TestNode = {
  /** The RPC URL for the service. */
  url: string;
  fault: Fault;
  /** Number of HTTP requests received. */
  requests(): number;
  stop(): Promise<void>;
};

export type TestChain = {
  chain: Chain;
  deployment: ChainDeployment;
  /** Reads the chain directly, without an RPC node. */
  direct: PublicClient;
  owner: WalletClient<Transport, ViemChain, Account>;
  /** Starts another RPC node for this chain. */
  addNode(): Promise<TestNode>;
  create<const A extends Abi>(
    artifact: { abi: A; bytecode: Hex },
    args: EncodeDeployDataParameters<A>['args'],
  ): Promise<Hex>;
  close(): Promise<void>;
};

/** Starts a real chain in this process and deploys the contracts. `bare` deploys none, not even Multicall3. */
export async function startTestChain(
  name: EmbeddedChainName = 'ethereum_sepolia',
  bare = false,
  now: () => number = () => GENESIS_TIMESTAMP,
): Promise<TestChain> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-test-chain-'));
  const embedded = EMBEDDED_CHAINS.find(({ chain }) => chain === name) ?? EMBEDDED_CHAINS[0];
  const genesis = chainGenesis(embedded.chainId);
  let deployed = false;
  const chain = await openChain({
    genesis: bare ? { ...genesis, contracts: [] } : genesis,
    journalPath: join(folder, 'chain.jsonl'),
    now: () => (deployed ? now() : GENESIS_TIMESTAMP),
  });
  const { steps, deployment } = planDeployment(embedded);
  if (!bare) await deploy(chain, embedded.chainId, steps);
  deployed = true;
  const viemChain = name === 'ethereum_sepolia' ? sepolia : baseSepolia;
  const transport = custom(chain);
  const direct = createPublicClient({
    chain: viemChain,
    transport,
    cacheTime: 0,
    pollingInterval: 10,
  }) as PublicClient;
  const owner = createWalletClient({ chain: viemChain, transport, account: roles.owner });
  const listen = await createListen(folder);
  const nodes: TestNode[] = [];
  return {
    chain,
    deployment,
    direct,
    owner,
    addNode: async () => {
      const node = await startNode(chain, name, (server) => listen(`node ${nodes.length}`, server));
      nodes.push(node);
      return node;
    },
    create: async (artifact, args) => {
      const data = encodeDeployData({ ...artifact, args } as unknown as EncodeDeployDataParameters);
      const hash = await owner.sendTransaction({ data, gas: 10_000_000n });
      const { contractAddress } = await direct.getTransactionReceipt({ hash });
      return (contractAddress ?? '0x').toLowerCase() as Hex;
    },
    close: async () => {
      for (const node of nodes) await node.stop();
      await chain.close();
      await rm(folder, { recursive: true });
    },
  };
}

async function startNode(
  chain: Chain,
  name: string,
  listen: (server: Server) => Promise<string>,
): Promise<TestNode> {
  const fault = createFault();
  const server = createRpcServer(new Map([[name, { chain, fault }]]), 'key');
  let requests = 0;
  server.on('request', () => {
    requests += 1;
  });
  const url = await listen(server);
  return { url: `${url}/${name}/key`, fault, requests: () => requests, stop: () => closeServer(server) };
}
