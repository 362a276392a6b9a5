import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Hex } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { expect, vi } from 'vitest';
import { solanaDeployment } from '../../../sandbox/src/simulators/solana/genesis.ts';
import { runCauseway, sharedSandbox, startService } from '../../../service/test/support/service.ts';
import { type Causeway, createCauseway } from '../../src/client.ts';
import { FlowError } from '../../src/flows/flow.ts';
import {
  createTestWallet,
  type Interceptor,
  ProviderError,
  type TestWallet,
} from '../../src/testing/index.ts';
import type { OfferDetails } from '../../src/wire.ts';

type Overview = {
  partner: { client_id: string };
  chains: {
    chain: string;
    chain_id: number;
    rpc_url: string;
    tokens: { asset_id: string; address: Hex }[];
  }[];
  wallets: { address: string; private_key: string; protocol: string }[];
};

export const CHAIN = 'ethereum_sepolia';
export const CHAIN_ID = 11_155_111;
const BASE_ID = 84_532;

/** Short intervals, because the embedded chain mines immediately. */
export const QUICK = { pollIntervalMs: 20, confirmationTimeoutMs: 20_000 };

export type Sandbox = Awaited<ReturnType<typeof useSandbox>>;

/** Starts a complete sandbox in its own process, as `npm start` does. */
export async function startSandbox(
  env: Record<string, string>,
): Promise<Sandbox & { stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-flows-'));
  const service = await startService({ CAUSEWAY_DATA: folder, ...env });
  const stop = async () => {
    await service.discard();
    rmSync(folder, { recursive: true, force: true });
  };
  return { ...(await connect(service.url, folder)), stop };
}

/** Returns the sandbox of this worker, which other test files use too. */
export async function useSandbox() {
  const { url, dataDir } = await sharedSandbox();
  return connect(url, dataDir);
}

async function connect(url: string, dataDir: string) {
  const control = async (method: 'GET' | 'POST', path: string, body?: object) => {
    const reply = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const result = (await reply.json()) as Record<string, unknown>;
    if (!reply.ok) throw new Error(`${path}: ${JSON.stringify(result)}`);
    return result;
  };
  const overview = (await control('GET', '/sandbox')) as unknown as Overview;
  const rpcUrls = Object.fromEntries(overview.chains.map(({ chain_id, rpc_url }) => [chain_id, rpc_url]));
  const faucet = (address: string, asset_id: string | undefined, amount: string, chain = CHAIN) =>
    control('POST', `/sandbox/chains/${chain}/faucet`, { address, amount, ...(asset_id && { asset_id }) });

  const run = async (args: string[]) => {
    const { code, text } = await runCauseway(args, { CAUSEWAY_DATA: dataDir });
    if (code !== 0) throw new Error(`${args.join(' ')}: ${text}`);
  };

  /** Makes the sandbox's database match an offer file, as an operator would. */
  const applyOffer = async (file: { slug: string; [field: string]: unknown }) => {
    const path = join(dataDir, `${file.slug}.yaml`);
    writeFileSync(path, JSON.stringify(file));
    await run(['offer', 'apply', path, '--yes', '--no-chain-checks']);
  };
  const publishOffer = (slug: string) => run(['offer', 'publish', slug]);
  /** Registers the origin of a page for the partner, as an operator would. */
  const addOrigin = async (origin: string) => {
    const { partner } = (await control('GET', '/sandbox')) as {
      partner: { client_id: string; origins: string[] };
    };
    await run(['partner', 'set-origins', partner.client_id, ...partner.origins, origin]);
    const headers = { origin, 'access-control-request-method': 'GET' };
    await vi.waitFor(async () => {
      const reply = await fetch(`${url}/v1/offers`, { method: 'OPTIONS', headers });
      expect(reply.headers.get('access-control-allow-origin')).toBe(origin);
    }, 10_000);
  };
  /** Creates a user and returns a client with the user's token. */
  const newUser = async ({
    clientId,
    ...change
  }: {
    fetch?: typeof fetch;
    clientId?: string;
  } = {}): Promise<Causeway & { email: string }> => {
    const { email } = (await control('POST', '/sandbox/users', {})) as { email: string };
    const accessToken = async () =>
      String(
        (await control('POST', '/sandbox/token', { email, ...(clientId && { client_id: clientId }) }))
          .access_token,
      );
    const token = await accessToken();
    const causeway = createCauseway({
      baseUrl: url,
      accessToken: ({ refresh }) => (refresh ? accessToken() : token),
      ...change,
    });
    return { ...causeway, email };
  };

  return {
    url,
    overview,
    control,
    applyOffer,
    publishOffer,
    addOrigin,
    /**
     * Publishes another token sale that pays into the given offer's fund on one chain, and returns the new sale. `token`
     * replaces the address of the funding token.
     */
    sellAlso: async ({ contracts }: OfferDetails, chain: string, token?: Hex): Promise<OfferDetails> => {
      const slug = `also-on-${chain.replaceAll('_', '-')}${token ? '-for-another-token' : ''}`;
      const contract = contracts.find((one) => one.chain === chain);
      await applyOffer({
        ...{ slug, type: 'platform::token_sale', name: 'A fine asset', tagline: 'Own a share' },
        ...{ logo_url: 'https://assets.test/logo.svg', banner_url: 'https://assets.test/banner.svg' },
        ...{ asset: 'usd-coin', funding_assets: ['usd-coin'], partners: [overview.partner.client_id] },
        options: [{ slug: 'only', minimum_purchase_usd: 1 }],
        contracts: [
          {
            ...{ chain, address: contract?.address },
            ...(chain === 'solana_devnet' && { vault: solanaDeployment.vault }),
            funding_tokens: contract?.funding_tokens.flatMap(({ asset_id: asset, address }) =>
              asset === 'usd-coin' ? [{ asset, address: token ?? address }] : [],
            ),
          },
        ],
        assets: { 'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6 } },
      });
      await publishOffer(slug);
      return (await newUser()).offers.get(slug);
    },
    newUser,
    /** Makes the identity provider approve the user. The fund's allow-list requires this approval. */
    verify: ({ email }: { email: string }) =>
      control('POST', '/sandbox/identity/reviews', { email, level_name: 'BasicKYCLevel', answer: 'GREEN' }),
    /** Creates a wallet with gas, 1,000 USDC and 1,000 USDT. */
    newWallet: async (more: { chainId?: number; intercept?: Interceptor } = {}): Promise<TestWallet> => {
      const wallet = createTestWallet({
        privateKey: generatePrivateKey(),
        rpcUrls,
        chainId: CHAIN_ID,
        ...more,
      });
      await faucet(wallet.address, undefined, '1000000000000000000');
      for (const asset of ['usd-coin', 'tether']) await faucet(wallet.address, asset, '1000000000');
      return wallet;
    },
    faucet,
    tokenOf: (assetId: string): Hex =>
      overview.chains[0]?.tokens.find(({ asset_id }) => asset_id === assetId)?.address ?? '0x',
    mine: (blocks: number) => control('POST', `/sandbox/chains/${CHAIN}/mine`, { blocks }),
    reorg: (depth: number, transactions: 'return' | 'drop') =>
      control('POST', `/sandbox/chains/${CHAIN}/reorg`, { depth, transactions }),
    setInterval: (milliseconds: number) =>
      control('POST', `/sandbox/chains/${CHAIN}/interval`, { milliseconds }),
  };
}

export function optionOf({ options }: OfferDetails, slug: string): string {
  const found = options.find((option) => option.slug === slug);
  if (found === undefined) throw new Error(`no option ${slug}`);
  return found.id;
}

/** Returns the error that a flow fails with. Throws if the flow succeeds or fails with another kind of error. */
export async function failureOf(flow: Promise<unknown>): Promise<FlowError> {
  const outcome = await flow.then(
    (result) =>
      new Error(
        `the flow succeeded: ${JSON.stringify(result, (_, value) => (typeof value === 'bigint' ? String(value) : value))}`,
      ),
    (error: unknown) => error,
  );
  if (outcome instanceof FlowError) return outcome;
  throw outcome;
}

/** Makes the wallet reject calls to a method, as its owner would. */
export const rejects =
  (method: string): Interceptor =>
  (call, next) =>
    call.method === method
      ? Promise.reject(new ProviderError(4001, 'User rejected the request.'))
      : next(call);

/** Makes the wallet never respond to a method. */
export const hangs =
  (method: string, onCall: () => void = () => undefined): Interceptor =>
  (call, next) => {
    if (call.method !== method) return next(call);
    onCall();
    return new Promise(() => undefined);
  };

/** Makes the wallet claim to have switched the chain, but stay on Base. */
export const staysOnBase: Interceptor = async (call, next) => {
  if (call.method === 'eth_chainId') return `0x${BASE_ID.toString(16)}`;
  return call.method === 'wallet_switchEthereumChain' ? null : next(call);
};

/** Makes the wallet switch to another account after the first call to a method. */
export const changesAccountAfter = (method: string): Interceptor => {
  let isChanged = false;
  return async (call, next) => {
    if (call.method === 'eth_accounts' && isChanged) return [`0x${'11'.repeat(20)}`];
    const result = await next(call);
    isChanged ||= call.method === method;
    return result;
  };
};

export const recordsCalls =
  (calls: string[]): Interceptor =>
  (call, next) => {
    calls.push(call.method);
    return next(call);
  };

export { BASE_ID };
