import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { token } from '@causeway/contracts/abi/token.ts';
import { tokenizedSwap } from '@causeway/contracts/abi/tokenized-swap.ts';
import { createWalletClient, custom, type Hex, maxUint256 } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { sepolia } from 'viem/chains';
import { callerOf, type Investor, type RollingSale } from '../rolling/investors.ts';
import type { Send } from '../rolling/load.ts';
import { AUTHORITY } from '../support/certificates.ts';
import { startTlsProxy } from '../support/tls-proxy.ts';
import { startTestVenue } from '../support/venue.ts';
import type { Order } from './acknowledged.ts';

const SLUG = 'apple';
const CHAIN = 'ethereum_sepolia';
const SMALLEST_AMOUNT = 5_000_000n;
const GAS = 2_000_000n;

/** Starts a venue and a tokenized offer on the sale's chain. The operator signs the offer's quotes. */
export async function startMarket({ chain, usdc }: RollingSale, operatorKey: Hex, folder: string) {
  const deployment = chain.deployment.venue;
  const [asset] = deployment?.assets ?? [];
  if (deployment === null || asset === undefined) throw new Error('the chain has no venue');
  const venue = await startTestVenue(chain, () => Date.now());
  venue.state.session = 'regular';
  const proxy = await startTlsProxy(venue.url);
  const authority = join(folder, 'authority.pem');
  await writeFile(authority, AUTHORITY);
  await chain.owner.writeContract({
    ...{ address: deployment.swap, abi: tokenizedSwap.abi, functionName: 'setOperator', gas: 200_000n },
    args: [privateKeyToAccount(operatorKey).address],
  } as never);
  let orders = 0n;
  return {
    settings: {
      NODE_EXTRA_CA_CERTS: authority,
      ONDO_URL: `https://localhost:${proxy.port}`,
      ONDO_API_KEY: venue.apiKey,
    },
    /** Writes the offer file and returns its path. */
    writeOffer: async (partner: string): Promise<string> => {
      const path = join(folder, 'apple.yaml');
      const contract = { chain: CHAIN, address: deployment.swap, asset_address: asset.address };
      const file = {
        ...{ slug: SLUG, type: 'tokenized::swap', name: 'Apple', logo_url: 'https://assets.test/logo.svg' },
        ...{ asset: 'apple', funding_assets: ['usd-coin'], partners: [partner], open_to_anyone: true },
        ...{ symbol: asset.symbol, fee_bps: deployment.fee_bps, options: [{ slug: 'open' }] },
        contracts: [{ ...contract, funding_tokens: [{ asset: 'usd-coin', address: usdc }] }],
        assets: {
          apple: { code: asset.symbol, name: 'Apple', fractional_digits: 18 },
          'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6 },
        },
      };
      await writeFile(path, JSON.stringify(file));
      return path;
    },
    /** Binds the trader's wallet and allows the swap contract to take the wallet's USDC. */
    prepare: async (send: Send, trader: Investor): Promise<void> => {
      const { account } = trader;
      const call = callerOf(send, trader);
      const wallet = { wallet_address: account.address.toLowerCase(), chain: CHAIN };
      const offer = await call('GET', `/v1/offers/${SLUG}`);
      const challenge = await call('POST', '/v1/wallet-ownership', wallet);
      const signature = await account.signMessage({ message: challenge.message });
      const bound = { ...wallet, offer_option_id: offer.options[0].id, signature };
      await call('POST', `/v1/offers/${offer.id}/addresses`, bound);
      await walletOf(trader).writeContract({
        ...{ address: usdc, abi: token.abi, functionName: 'approve', gas: 100_000n },
        args: [deployment.swap, maxUint256],
      });
    },
    /**
     * Places one order and executes it on chain. Returns null if the order was refused, or if its quote had expired or
     * was about to expire when the reply arrived.
     */
    trade: async (send: Send, trader: Investor): Promise<Order | null> => {
      const wallet = trader.account.address.toLowerCase();
      // Every order has its own amount, which identifies it.
      const amount = String(SMALLEST_AMOUNT + orders++);
      const order = { amount, chain: CHAIN, symbol: asset.symbol, wallet_address: wallet };
      const reply = await callerOf(send, trader)('POST', '/v1/tokenized/swap/transaction', order);
      // During a failover, a reply may arrive when its quote has expired or is about to. The contract would revert the
      // order, so wallets do not send it.
      if (reply === null || Date.parse(reply.expires_at) < Date.now() + 5_000) return null;
      const hash = await walletOf(trader).sendTransaction({ to: reply.to, data: reply.data, gas: GAS });
      for (;;) {
        const receipt = await chain.direct.getTransactionReceipt({ hash }).catch(() => null);
        if (receipt?.status === 'success') return { wallet, amount, hash };
        if (receipt !== null) throw new Error(`the order ${hash} was reverted`);
        await sleep(50);
      }
    },
    close: async () => {
      await proxy.stop();
      await venue.stop();
    },
  };

  function walletOf({ account }: Investor) {
    return createWalletClient({ account, chain: sepolia, transport: custom(chain.chain) });
  }
}

export type Market = Awaited<ReturnType<typeof startMarket>>;
