import { once } from 'node:events';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { installPackages } from '../../../service/test/support/packages.ts';
import type { TestWallet } from '../../src/testing/index.ts';

const PROJECT_ID = '0'.repeat(32);

type Socket = { send(text: string): void; on(event: string, listener: (data: string) => void): void };
type Message = { sender: Socket; message: string; tag: number };
type Params = { topics: string[]; tag: number } & Record<
  | ('topic' | 'message' | 'pairingTopic' | 'sessionTopic')
  | ('sessionProposal' | 'sessionProposalResponse' | 'sessionSettlementRequest'),
  string
>;
type Proposal = { id: number; params: { optionalNamespaces: { eip155: Namespace } } };
type Namespace = { chains: string[]; methods: string[]; events: string[] };
type Request = {
  id: number;
  topic: string;
  params: { request: { method: string; params: unknown }; chainId: string };
};

/** Installs WalletConnect outside the repository, without the dialog that wagmi shows for it. */
export function installWalletConnect(): Promise<string> {
  return installPackages('walletconnect');
}

/**
 * Starts a relay on this machine: it stores the messages on each topic and passes them to the other subscribers.
 * `wc_proposeSession` and `wc_approveSession`, which connect a wallet, both subscribe and publish.
 */
export async function startRelay(packages: string) {
  const { Server: WebSocketServer } = createRequire(join(packages, 'package.json'))('ws');
  const subscribers = new Map<string, Set<Socket>>();
  const messages = new Map<string, Message[]>();
  let lastId = Date.now() * 1000;
  const server = createServer();
  const sockets = new WebSocketServer({ server });
  const deliver = (socket: Socket, topic: string, { sender, message, tag }: Message) => {
    if (socket === sender) return;
    const params = { id: topic, data: { topic, message, tag, publishedAt: Date.now() } };
    socket.send(JSON.stringify({ id: ++lastId, jsonrpc: '2.0', method: 'irn_subscription', params }));
  };
  sockets.on('connection', (socket: Socket) => {
    const subscribe = (topic: string) => {
      subscribers.set(topic, (subscribers.get(topic) ?? new Set()).add(socket));
      for (const message of messages.get(topic) ?? []) deliver(socket, topic, message);
      return topic;
    };
    const publish = (topic: string, message: string, tag: number) => {
      const sent = { sender: socket, message, tag };
      messages.set(topic, [...(messages.get(topic) ?? []), sent]);
      for (const other of subscribers.get(topic) ?? []) deliver(other, topic, sent);
      return true;
    };
    const methods: Record<string, (params: Params) => unknown> = {
      irn_subscribe: ({ topic }) => subscribe(topic),
      irn_batchSubscribe: ({ topics }) => topics.map(subscribe),
      irn_unsubscribe: ({ topic }) => subscribers.get(topic)?.delete(socket) ?? false,
      irn_publish: ({ topic, message, tag }) => publish(topic, message, tag),
      irn_batchFetchMessages: () => ({ messages: [], hasMore: false }),
      wc_proposeSession: ({ pairingTopic, sessionProposal }) => {
        subscribe(pairingTopic);
        return publish(pairingTopic, sessionProposal, 1100);
      },
      wc_approveSession: ({ pairingTopic, sessionTopic, ...sent }) => {
        subscribe(sessionTopic);
        publish(pairingTopic, sent.sessionProposalResponse, 1101);
        return publish(sessionTopic, sent.sessionSettlementRequest, 1102);
      },
    };
    socket.on('message', (text) => {
      const { id, method, params } = JSON.parse(text);
      // Messages without a method are delivery receipts.
      if (method !== undefined)
        socket.send(JSON.stringify({ id, jsonrpc: '2.0', result: methods[method]?.(params) }));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      for (const socket of sockets.clients) socket.terminate();
      server.close();
    },
  };
}

/** Starts a wallet app that accepts every connection and passes all requests to the test wallet. */
export async function startWalletApp(packages: string, relayUrl: string, { address, provider }: TestWallet) {
  const { SignClient } = createRequire(join(packages, 'package.json'))('@walletconnect/sign-client');
  const client = await SignClient.init({
    ...{ projectId: PROJECT_ID, relayUrl, telemetryEnabled: false, customStoragePrefix: address },
    metadata: { name: 'Wallet app', description: '', url: 'https://wallet.test', icons: [] },
    storageOptions: { database: ':memory:' },
  });
  // Stops the client from asking a service on the internet whether the app is known.
  client.core.verify.resolve = async () => undefined;
  const asked: string[] = [];
  client.on('session_proposal', ({ id, params }: Proposal) => {
    const { chains, methods, events } = params.optionalNamespaces.eip155;
    const accounts = chains.map((chain) => `${chain}:${address}`);
    return client.approve({ id, namespaces: { eip155: { chains, methods, events, accounts } } });
  });
  client.on('session_request', async ({ id, topic, params: { request, chainId } }: Request) => {
    asked.push(`${request.method} on ${chainId}`);
    const reply = await answer(request, Number(chainId.split(':')[1])).then(
      (result) => ({ result }),
      ({ code, message }) => ({ error: { code, message } }),
    );
    await client.respond({ topic, response: { id, jsonrpc: '2.0', ...reply } });
  });
  const answer = async (request: { method: string; params: unknown }, chainId: number) => {
    const switched = [{ chainId: `0x${chainId.toString(16)}` }];
    await provider.request({ method: 'wallet_switchEthereumChain', params: switched });
    return provider.request(request);
  };
  return {
    asked,
    pair: (uri: string): Promise<unknown> => client.pair({ uri }),
    close: async () => {
      client.core.heartbeat.stop();
      await client.core.relayer.transportClose();
    },
  };
}
