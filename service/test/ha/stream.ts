import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import {
  callerOf,
  type Investor,
  investing,
  type RollingSale,
  SLUG,
  type User,
} from '../rolling/investors.ts';
import type { Load, Send } from '../rolling/load.ts';
import type { Acknowledged } from './acknowledged.ts';
import type { Market } from './market.ts';

const RETRY_INTERVAL_MS = 100;
const REQUEST_TIMEOUT_MS = 20_000;
const PAUSE_MS = 500;
/** Error codes after which a client may repeat the request with the same key. */
const RETRIED_CODES = /"code":"(idempotency_in_progress|rate_limited|order_outstanding)"/;

export type Stream = {
  acknowledged: Acknowledged;
  load: Load;
  start(): void;
  /**
   * Stops the investors, traders and users, and waits until every participation is settled. `start` lets them continue.
   */
  stop(): Promise<void>;
};

/**
 * Prepares investors, traders, and users who each bind a wallet. They repeat requests that a failover interrupts, as
 * the SDK does. `addUser` returns a new user each time.
 */
export async function createStream(
  url: string,
  sale: RollingSale,
  market: Market,
  people: { investors: Investor[]; traders: Investor[]; addUser: () => Promise<User> },
): Promise<Stream> {
  const acknowledged: Acknowledged = { participations: [], bindings: [], orders: [] };
  const load: Load = { requests: 0, failures: [], settled: 0 };
  let [isOn, running]: [boolean, Promise<unknown>] = [true, Promise.resolve()];
  const isRunning = () => isOn;
  const send = createRetryingSend(url, load, isRunning);
  const recording: RollingSale = {
    ...sale,
    invest: async (...args) => {
      const id = await sale.invest(...args);
      if (id !== null) acknowledged.participations.push(id);
      return id;
    },
  };
  for (const trader of people.traders) await market.prepare(send, trader);
  return {
    acknowledged,
    load,
    start: () => {
      isOn = true;
      running = Promise.all([
        investing(recording, people.investors)(send, load, isRunning),
        ...people.traders.map(async (trader) => {
          while (isRunning()) {
            const order = await market.trade(send, trader);
            if (order !== null) acknowledged.orders.push(order);
            await sleep(PAUSE_MS);
          }
        }),
        bindWallets(send, people.addUser, acknowledged, isRunning),
      ]);
      // `stop` reports the error.
      running.catch(() => undefined);
    },
    stop: async () => {
      isOn = false;
      await running;
    },
  };
}

/**
 * Returns a function that sends a request. It repeats the request with the same idempotency key while no node replies,
 * or the reply is a server error or has one of `RETRIED_CODES`. It returns null if the request fails in another way, or
 * still fails when `isRunning` returns false.
 */
export function createRetryingSend(url: string, load: Load, isRunning: () => boolean): Send {
  const dispatcher = new Agent({ connections: 32, headersTimeout: REQUEST_TIMEOUT_MS });
  return async (method, path, headers, body) => {
    const key = method === 'POST' ? { 'idempotency-key': randomUUID() } : {};
    for (;;) {
      load.requests++;
      const options = { method, dispatcher, headers: { ...headers, ...key }, ...(body && { body }) };
      const reply = await request(url + path, options).catch(() => null);
      const text = (await reply?.body.text().catch(() => null)) ?? null;
      if (reply?.statusCode === 200 && text !== null) return text;
      if (reply !== null && reply.statusCode < 500 && !RETRIED_CODES.test(text ?? '')) return null;
      if (!isRunning()) return null;
      await sleep(RETRY_INTERVAL_MS);
    }
  };
}

/** Binds a new wallet for one user after another. */
async function bindWallets(
  send: Send,
  addUser: () => Promise<User>,
  { bindings }: Acknowledged,
  isRunning: () => boolean,
): Promise<void> {
  while (isRunning()) {
    const user = await addUser();
    const account = privateKeyToAccount(generatePrivateKey());
    const call = callerOf(send, user);
    const wallet = account.address.toLowerCase();
    const chosen = { wallet_address: wallet, chain: 'ethereum_sepolia' };
    for (let bound = null; isRunning() && bound === null; ) {
      const offer = await call('GET', `/v1/offers/${SLUG}`);
      const challenge = await call('POST', '/v1/wallet-ownership', chosen);
      if (offer === null || challenge === null) continue;
      const signature = await account.signMessage({ message: challenge.message });
      const option = { offer_option_id: offer.options[0].id };
      // A failover may use up the challenge without binding the wallet, so every attempt uses a new challenge.
      bound = await call('POST', `/v1/offers/${offer.id}/addresses`, { ...chosen, ...option, signature });
      if (bound !== null) bindings.push({ email: user.email, wallet });
    }
    await sleep(PAUSE_MS / 2);
  }
}
