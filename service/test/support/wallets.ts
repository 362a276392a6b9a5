import { createHash, createPrivateKey, sign } from 'node:crypto';
import { base58 } from '@scure/base';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { hashMessage } from 'viem/utils';
import { signHash } from '../../src/platform/chain/evm/secp256k1.ts';
import type { Context } from '../../src/platform/context/context.ts';
import type { TestApp } from './app.ts';
import { partnerOf, USER } from './tokens.ts';

/** An address that can sign messages. */
export type TestWallet = { address: string; chain: string; sign(text: string): string | Promise<string> };

/** An EOA derived from a name. Signs with native code for speed, because race tests need many signatures. */
export function evmWallet(name: string, chain = 'ethereum_sepolia'): TestWallet & { key: Hex } {
  const key: Hex = `0x${createHash('sha256').update(`wallet ${name}`).digest('hex')}`;
  const sign = (text: string) => signHash(key, hashMessage(text));
  return { key, address: privateKeyToAccount(key).address.toLowerCase(), chain, sign };
}

export function solanaWallet(name: string, chain = 'solana_devnet'): TestWallet {
  const seed = createHash('sha256').update(`wallet ${name}`).digest();
  const key = createPrivateKey({
    key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]),
    format: 'der',
    type: 'pkcs8',
  });
  const { x } = key.export({ format: 'jwk' });
  return {
    address: base58.encode(Buffer.from(String(x), 'base64url')),
    chain,
    sign: (text) => base58.encode(sign(null, Buffer.from(text), key)),
  };
}

export type Answer = { status: number; body: Record<string, unknown> & { code?: string } };

/** An authenticated user of a partner. */
export type Person = {
  call(method: 'GET' | 'POST' | 'DELETE', url: string, body?: object, headers?: object): Promise<Answer>;
  challenge(wallet: TestWallet, more?: object): Promise<string>;
  /** Requests a challenge, signs it and binds the wallet. */
  bind(offerId: string, optionId: string, wallet: TestWallet): Promise<Answer>;
  /** Binds the wallet with an existing signature. */
  connect(offerId: string, optionId: string, wallet: TestWallet, signature: string): Promise<Answer>;
  allow(offerId: string, wallet: TestWallet): Promise<Answer>;
};

export async function person(
  { app, tokenFor }: TestApp,
  who: Parameters<TestApp['tokenFor']>[0] = {},
): Promise<Person> {
  const token = await tokenFor(who);
  return personWith(async (method, url, body, headers) => {
    const reply = await app.inject({
      method,
      url,
      headers: { authorization: `Bearer ${token}`, ...headers },
      ...(body !== undefined && { payload: body }),
    });
    return { status: reply.statusCode, body: reply.json() };
  });
}

export function personWith(call: Person['call']): Person {
  const challenge: Person['challenge'] = async (wallet, more = {}) => {
    const { address: wallet_address, chain } = wallet;
    const { status, body } = await call('POST', '/v1/wallet-ownership', { wallet_address, chain, ...more });
    if (status !== 200) throw new Error(`no challenge: ${JSON.stringify(body)}`);
    return String(body.message);
  };
  const connect: Person['connect'] = (offerId, offer_option_id, { address, chain }, signature) =>
    call('POST', `/v1/offers/${offerId}/addresses`, {
      ...{ chain, offer_option_id, signature },
      wallet_address: address,
    });
  return {
    call,
    challenge,
    connect,
    bind: async (offerId, optionId, wallet) =>
      connect(offerId, optionId, wallet, await wallet.sign(await challenge(wallet))),
    allow: async (offerId, wallet) =>
      call('POST', `/v1/offers/${offerId}/allow-wallet`, {
        chain: wallet.chain,
        wallet_address: wallet.address,
        signature: await wallet.sign(await challenge(wallet)),
      }),
  };
}

/** Returns a distinct user id for every number. */
export function userId(n: number): string {
  return `01890000-0000-7000-8000-${(0xb00000000000 + n).toString(16)}`;
}

/** Records that the user has proven these wallets, as if each wallet's key had signed a challenge. */
export async function proveWallets(
  { db }: Pick<Context, 'db'>,
  addresses: readonly string[],
  { userId = USER, clientId = 'partner-one' } = {},
): Promise<void> {
  const values = addresses.map((address) => ({
    partner_id: partnerOf(clientId),
    address: address.startsWith('0x') ? address.toLowerCase() : address,
    chain: '*',
    protocol: address.startsWith('0x') ? ('ethereum' as const) : ('solana' as const),
    user_id: userId,
    kind: 'key' as const,
    text: null,
    signature: null,
    proved_at: '2026-01-01T00:00:00Z',
  }));
  await db
    .insertInto('wallet_proofs')
    .values(values)
    .onConflict((conflict) =>
      conflict.columns(['partner_id', 'address', 'chain']).doUpdateSet({ user_id: userId }),
    )
    .execute();
}
