import { hash, randomBytes, randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { token } from '@causeway/contracts/abi/token.ts';
import { roles } from '@causeway/sandbox/seed/keys.ts';
import { createWalletClient, custom, type Hex, type PrivateKeyAccount } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { openPool } from '../../src/platform/db/pool.ts';
import { startTestChain } from '../support/chain.ts';
import { grantRoles } from '../support/fund-v2.ts';
import type { Load, MoreLoad, Send } from './load.ts';

export const SLUG = 'harbour-sale';
const CHAIN = 'ethereum_sepolia';
const BLOCK_INTERVAL_MS = 50;
const AMOUNT = 5_000_000n;
const POLL_INTERVAL_MS = 200;
const SETTLEMENT_TIMEOUT_MS = 300_000;
const SCOPES =
  'offers:read requirements:read participations:read participations:write wallets:read wallets:write swaps:write';

export type Investor = User & { account: PrivateKeyAccount };
export type User = { token: string; email: string };

export type RollingSale = Awaited<ReturnType<typeof startRollingSale>>;

/** Starts a token sale on its own chain, with a fund to which these operators may commit. */
export async function startRollingSale(operatorKeys: readonly Hex[]) {
  const chain = await startTestChain(CHAIN, false, () => Math.floor(Date.now() / 1000));
  const node = await chain.addNode();
  const fund = chain.deployment.sale_funds.open;
  const usdc = chain.deployment.tokens.find(({ asset_id }) => asset_id === 'usd-coin')?.address ?? '0x';
  const addFunds = (address: Hex) =>
    chain.chain.request({ method: 'hardhat_setBalance', params: [address, '0x56bc75e2d63100000'] });
  const deployer = createWalletClient({
    ...{ account: roles.deployer, chain: sepolia, transport: custom(chain.chain) },
  });
  for (const key of operatorKeys) {
    const { address } = privateKeyToAccount(key);
    await addFunds(address);
    await grantRoles(chain, fund, address);
  }
  const resumeMining = () => chain.chain.setBlockInterval(BLOCK_INTERVAL_MS);

  return {
    ...{ chain, fund, usdc },
    rpcUrl: node.url,
    pauseMining: () => chain.chain.setBlockInterval(1e8),
    resumeMining,
    close: () => chain.close(),
    /** Writes the offer file and returns its path. */
    writeOffer: async (folder: string, partner: string, more: object = {}): Promise<string> => {
      const path = join(folder, 'sale.yaml');
      const requirements = [{ type: 'external_wallet', details: { protocol: 'ethereum' } }];
      const file = {
        ...{ slug: SLUG, type: 'platform::token_sale', name: 'Harbour', tagline: 'A part of the harbour' },
        ...{ logo_url: 'https://assets.test/logo.svg', banner_url: 'https://assets.test/banner.svg' },
        ...{ asset: 'harbour', funding_assets: ['usd-coin'], partners: [partner] },
        ...{ options: [{ slug: 'open', requirements }], ...more },
        contracts: [{ chain: CHAIN, address: fund, funding_tokens: [{ asset: 'usd-coin', address: usdc }] }],
        assets: {
          harbour: { code: 'HBR', name: 'Harbour', fractional_digits: 18 },
          'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6 },
        },
      };
      await writeFile(path, JSON.stringify(file));
      return path;
    },
    /** Creates users of the client, each with an access token and a wallet that holds USDC. */
    addInvestors: async (databaseUrl: string, clientId: string, count: number): Promise<Investor[]> => {
      chain.chain.setBlockInterval(0);
      const investors: Investor[] = [];
      for (let n = 0; n < count; n++) {
        const account = privateKeyToAccount(generatePrivateKey());
        await addFunds(account.address);
        await deployer.writeContract({
          ...{ address: usdc, abi: token.abi, functionName: 'mint', args: [account.address, 10n ** 12n] },
          gas: 100_000n,
        });
        investors.push({ account, ...(await insertUser(databaseUrl, clientId)) });
      }
      resumeMining();
      return investors;
    },
    /** Binds the investor's wallet and invests. Returns the id of the participation, or null if a request failed. */
    invest: async (send: Send, investor: Investor): Promise<string | null> => {
      const { account } = investor;
      const call = callerOf(send, investor);
      const wallet = createWalletClient({ account, chain: sepolia, transport: custom(chain.chain) });
      const offer = await call('GET', `/v1/offers/${SLUG}`);
      const wanted = { wallet_address: account.address.toLowerCase(), chain: CHAIN };
      const choice = { offer_option_id: offer?.options[0]?.id };
      const challenge = await call('POST', '/v1/wallet-ownership', wanted);
      const signature = await account.signMessage({ message: challenge?.message ?? '' });
      await call('POST', `/v1/offers/${offer?.id}/addresses`, { ...wanted, ...choice, signature });
      const approval = await wallet.writeContract({
        ...{ address: usdc, abi: token.abi, functionName: 'approve', args: [fund, AMOUNT], gas: 100_000n },
      });
      const created = await call('POST', '/v1/participations', {
        ...{ ...wanted, ...choice, offer_id: offer?.id, amount: String(AMOUNT), asset_id: 'usd-coin' },
        approval_transaction_hash: approval,
      });
      return created?.id ?? null;
    },
  };
}

/** Returns a load in which each investor invests again as soon as the previous participation is completed. */
export function investing(sale: RollingSale, investors: readonly Investor[]): MoreLoad {
  return (send, load, isRunning) =>
    Promise.all(
      investors.map(async (investor) => {
        while (isRunning()) {
          const id = await sale.invest(send, investor);
          if (id !== null) await waitSettled(send, investor, id, load);
        }
      }),
    );
}

/** Waits until the participation is completed, whichever node settles it. */
async function waitSettled(send: Send, investor: Investor, id: string, load: Load): Promise<void> {
  const call = callerOf(send, investor);
  const end = Date.now() + SETTLEMENT_TIMEOUT_MS;
  for (;;) {
    const status = (await call('GET', `/v1/participations/${id}`))?.status;
    if (status === 'completed') load.settled++;
    else if (status === 'failed' || Date.now() > end) load.failures.push(`participation ${id} is ${status}`);
    else {
      await sleep(POLL_INTERVAL_MS);
      continue;
    }
    return;
  }
}

// biome-ignore lint/suspicious/noExplicitAny: members of arbitrary JSON
type Call = (method: 'GET' | 'POST', path: string, body?: object) => Promise<any>;

export function callerOf(send: Send, user: User): Call {
  const headers = { authorization: `Bearer ${user.token}`, 'content-type': 'application/json' };
  return async (method, path, body) => {
    const text = await send(method, path, headers, body && JSON.stringify(body));
    return text === null ? null : JSON.parse(text);
  };
}

/** Inserts a user, its grant and an access token. */
export async function insertUser(databaseUrl: string, clientId: string): Promise<User> {
  const secret = randomBytes(32).toString('base64url');
  const [userId, grantId] = [randomUUID(), randomUUID()];
  const email = `${userId}@investor.example`;
  const { pool, close } = openPool(databaseUrl, { max: 1 });
  try {
    await pool.query(`insert into users (id, email, kind) values ($1, $2, 'person')`, [userId, email]);
    await pool.query(
      `insert into oauth_grants (id, client_id, user_id, payload, expires_at)
       values ($1, $2, $3, jsonb_build_object('accountId', $3::uuid, 'clientId', $2::text,
         'openid', jsonb_build_object('scope', $4::text)), now() + interval '1 day')`,
      [grantId, clientId, userId, SCOPES],
    );
    await pool.query(
      `insert into oauth_tokens (hash, client_id, grant_id, user_id, scope, payload, issued_at, expires_at)
       values ($1, $2, $3, $4, $5, '{}', now(), now() + interval '1 day')`,
      [hash('sha256', secret, 'buffer'), clientId, grantId, userId, SCOPES],
    );
    return { token: secret, email };
  } finally {
    await close();
  }
}
