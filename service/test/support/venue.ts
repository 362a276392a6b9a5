import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { token as tokenArtifact } from '@causeway/contracts/abi/token.ts';
import { venueManager } from '@causeway/contracts/abi/venue-manager.ts';
import { venueOracle } from '@causeway/contracts/abi/venue-oracle.ts';
import { verifiedSwapAbi } from '@causeway/contracts/encodings/verifier-abi.ts';
import { sandboxKey, testWallets } from '@causeway/sandbox/seed/keys.ts';
import type { VenueDeployment } from '@causeway/sandbox/simulators/chains/deploy-venue.ts';
import { transact } from '@causeway/sandbox/simulators/chains/transact.ts';
import { createFault, type Fault } from '@causeway/sandbox/simulators/fault.ts';
import { closeServer, createListen } from '@causeway/sandbox/simulators/ports.ts';
import { createVenueServer } from '@causeway/sandbox/simulators/venue/server.ts';
import { openVenueState, type VenueState } from '@causeway/sandbox/simulators/venue/state.ts';
import { type Abi, type ContractFunctionArgs, type ContractFunctionName, type Hex, maxUint256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { bytesToHex, decodeFunctionData, encodeFunctionData, hexToBytes } from 'viem/utils';
import type { OfferFile } from '../../src/domain/offer-files/file-schema.ts';
import { deriveSandboxKey } from '../../src/kernel/config/sandbox-keys.ts';
import type { Offer } from '../../src/platform/context/ports.ts';
import { type TestApp, testApp, testConfig } from './app.ts';
import { startTestChain, type TestChain, type TestNode } from './chain.ts';
import { makeOffer, tokenizedFile } from './offers.ts';
import { type Person, person, proveWallets } from './wallets.ts';

/** Monday 10:00 in New York, in the regular session. */
export const MARKET_OPEN = Date.parse('2026-03-02T15:00:00Z');

type SwapArgs = ContractFunctionArgs<typeof verifiedSwapAbi, 'nonpayable', 'swap'>;

export type TestVenue = {
  url: string;
  apiKey: string;
  state: VenueState;
  fault: Fault;
  /** Returns the number of requests received, optionally only those to `path`, such as `POST /v1/attestations`. */
  requests(path?: string): number;
  stop(): Promise<void>;
};

export type TokenizedWorld = {
  app: TestApp;
  chain: TestChain;
  node: TestNode;
  venue: TestVenue;
  deployment: VenueDeployment;
  usdc: Hex;
  offer: Offer;
  user: Person;
  /** A funded wallet that has approved an unlimited amount for the swap contract. */
  wallet: { address: Hex; key: Hex };
  /** Sends a transaction and returns its receipt status. */
  send(by: Hex, to: Hex, data: Hex): Promise<'success' | 'reverted'>;
  /** Encodes and sends a contract call. */
  call<const A extends Abi, Name extends ContractFunctionName<A, 'nonpayable' | 'payable'>>(
    key: Hex,
    to: Hex,
    artifact: { abi: A },
    name: Name,
    args: ContractFunctionArgs<A, 'nonpayable' | 'payable', Name>,
  ): Promise<'success' | 'reverted'>;
  setPrice(symbol: string, price: bigint): Promise<void>;
  close(): Promise<void>;
};

export async function startTestVenue(chain: TestChain, now: () => number): Promise<TestVenue> {
  const folder = await mkdtemp(join(tmpdir(), 'causeway-test-venue-'));
  const store = openVenueState(folder);
  store.state.session = null;
  const fault = createFault();
  const deployment = chain.deployment.venue;
  if (deployment === null) throw new Error('the chain has no venue deployment');
  const server = createVenueServer({
    store,
    fault,
    now,
    attested: () => undefined,
    chain: { chainId: 11_155_111, deployment },
    isExecuted: (id) =>
      chain.direct.readContract({
        address: deployment.manager,
        abi: venueManager.abi,
        functionName: 'executedAttestationIds',
        args: [BigInt(id)],
      }),
  });
  const seen: string[] = [];
  server.on('request', (request) => seen.push(`${request.method} ${String(request.url).split('?')[0]}`));
  const listen = await createListen(folder);
  return {
    url: await listen('venue', server),
    apiKey: store.state.api_key,
    state: store.state,
    fault,
    requests: (path) => (path === undefined ? seen : seen.filter((request) => request === path)).length,
    stop: async () => {
      await closeServer(server);
      await rm(folder, { recursive: true });
    },
  };
}

export function appleFile(
  deployment: VenueDeployment,
  usdc: Hex,
  change: Partial<OfferFile> = {},
): OfferFile {
  const asset = deployment.assets[0];
  if (asset === undefined) throw new Error('the venue has no asset');
  return tokenizedFile({
    slug: 'apple',
    symbol: asset.symbol,
    fee_bps: deployment.fee_bps,
    contracts: [
      {
        ...{ chain: 'ethereum_sepolia', address: deployment.swap, asset_address: asset.address },
        ...{ allow_list: false, domain_name: null, vault: null },
        funding_tokens: [{ asset: 'usd-coin', address: usdc }],
      },
    ],
    ...change,
  });
}

/** Returns one variant per byte, each with that byte changed. */
export function changeEachByte(data: Hex): Hex[] {
  const bytes = hexToBytes(data);
  return Array.from(bytes, (byte, at) => {
    const changed = bytes.slice();
    changed[at] = byte ^ (1 + (at % 255));
    return bytesToHex(changed);
  });
}

/** Returns the calldata of one order with the venue's quote of another. */
export function withQuoteOf(data: Hex, other: Hex): Hex {
  const decode = (call: Hex) => decodeFunctionData({ abi: verifiedSwapAbi, data: call }).args as SwapArgs;
  const [, , token, amount, operatorSignature] = decode(data);
  const [quote, venueSignature] = decode(other);
  const args: SwapArgs = [quote, venueSignature, token, amount, operatorSignature];
  return encodeFunctionData({ abi: verifiedSwapAbi, functionName: 'swap', args });
}

/** Starts the application with a chain, a venue and an AAPLon offer. They all share one clock. */
export async function startTokenizedWorld(config: object = {}): Promise<TokenizedWorld> {
  const time = { now: MARKET_OPEN };
  const chain = await startTestChain('ethereum_sepolia', false, () => time.now / 1000);
  const node = await chain.addNode();
  const venue = await startTestVenue(chain, () => time.now);
  const app = await testApp({
    config: {
      limits: { ...testConfig().limits, tokenized_transaction: 1_000_000 },
      rpcUrls: { ethereum_sepolia: [node.url] },
      venue: { url: venue.url, apiKey: venue.apiKey },
      operatorKey: sandboxKey('operator'),
      ...config,
    },
  });
  app.clock.set(MARKET_OPEN);
  Object.defineProperty(time, 'now', { get: () => app.clock.now() });
  const deployment = chain.deployment.venue as VenueDeployment;
  const usdc = chain.deployment.tokens[0]?.address as Hex;
  const offer = await makeOffer(app.ctx, appleFile(deployment, usdc));
  const first = testWallets[0];
  const wallet = { address: first?.address as Hex, key: first?.private_key as Hex };

  const send: TokenizedWorld['send'] = async (key, to, data) => {
    const account = privateKeyToAccount(key);
    const nonce = await chain.direct.getTransactionCount({ address: account.address });
    const { status } = await transact(chain.chain, account, { to, data, chainId: 11_155_111, nonce });
    return status;
  };
  const call: TokenizedWorld['call'] = (key, to, { abi }, functionName, args) =>
    send(key, to, encodeFunctionData({ abi, functionName, args } as never));
  await call(wallet.key, usdc, tokenArtifact, 'approve', [deployment.swap, maxUint256]);
  const user = await person(app);
  await proveWallets(app.ctx, [wallet.address]);
  return {
    ...{ app, chain, node, venue, deployment, usdc, offer, wallet, send, call },
    user,
    setPrice: async (symbol, price) => {
      const asset = deployment.assets.find((candidate) => candidate.symbol === symbol);
      const args = [asset?.address as Hex, price, 2 ** 32 - 1, 1_000] as const;
      await call(deriveSandboxKey('venue owner'), deployment.oracle, venueOracle, 'setPrice', args);
      venue.state.assets[symbol] = {
        ...{ paused: false, redeem_only: false, max_notional: null },
        ...venue.state.assets[symbol],
        price: `${price / 10n ** 18n}.${(price % 10n ** 18n).toString().padStart(18, '0')}`,
      };
      app.ctx.venue.clear();
    },
    close: async () => {
      await app.close();
      await venue.stop();
      await chain.close();
    },
  };
}
