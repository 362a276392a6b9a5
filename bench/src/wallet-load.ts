import { createHash } from 'node:crypto';
import { signHash } from '@causeway/service/chain/evm/secp256k1.ts';
import { Pool } from 'undici';
import { type Hex, hashMessage } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

/** A service, and the option that users connect wallets for. `tokens` has one access token per user. */
export type WalletTarget = { url: string; tokens: string[]; offerId: string; optionId: string };

type Wallet = { key: Hex; address: string };

/**
 * Connects wallets for all users concurrently. Each user alternates between two wallets. Returns how many milliseconds
 * each connection took.
 */
export async function connectWallets(
  { url, tokens, offerId, optionId }: WalletTarget,
  seconds: number,
): Promise<number[]> {
  const pool = new Pool(url, { connections: tokens.length });
  const post = async (token: string, path: string, body: object) => {
    const reply = await pool.request({
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await reply.body.text();
    if (reply.statusCode !== 200) throw new Error(`${path}: ${text}`);
    return JSON.parse(text) as { message: string };
  };
  const prove = async (token: string, wallet: Wallet) => {
    const wanted = { wallet_address: wallet.address, chain: 'ethereum_sepolia' };
    const { message } = await post(token, '/v1/wallet-ownership', wanted);
    const signature = signHash(wallet.key, hashMessage(message));
    await post(token, `/v1/offers/${offerId}/addresses`, {
      ...wanted,
      offer_option_id: optionId,
      signature,
    });
  };
  const times: number[] = [];
  const end = performance.now() + seconds * 1000;
  await Promise.all(
    tokens.map(async (token, n) => {
      const wallets = [newWallet(`${n} left`), newWallet(`${n} right`)];
      for (let turn = 0; performance.now() < end; turn++) {
        const start = performance.now();
        await prove(token, wallets[turn % 2] as Wallet);
        times.push(performance.now() - start);
      }
    }),
  );
  await pool.close();
  return times;
}

/** Wallets by name. Later rounds reuse the wallets, because deriving an address takes milliseconds of CPU time. */
const WALLETS = new Map<string, Wallet>();

function newWallet(name: string): Wallet {
  const key: Hex = `0x${createHash('sha256').update(name).digest('hex')}`;
  const wallet = WALLETS.get(name) ?? { key, address: privateKeyToAccount(key).address.toLowerCase() };
  WALLETS.set(name, wallet);
  return wallet;
}
