import { setTimeout as sleep } from 'node:timers/promises';
import { requestRemit } from '../../src/domain/participations/refunds.ts';
import { issueTokenFor } from '../support/tokens.ts';
import { proveWallets, userId } from '../support/wallets.ts';
import type { Environment } from './environment.ts';
import type { RandomChoices } from './random-choices.ts';

export type Investor = {
  address: string;
  /** Ids of the participations that the service has acknowledged. */
  acknowledged: string[];
  run(): Promise<void>;
};

export const countAcknowledged = (investors: readonly Investor[]) =>
  investors.reduce((sum, { acknowledged }) => sum + acknowledged.length, 0);

const UNIT = 1_000_000n;
/** An approved amount that is more than any investor owns. */
const UNLIMITED = 2n ** 63n;
const FINAL_STATUSES = ['completed', 'failed', 'remitted', 'remit_failed'];

/**
 * Creates a user who approves, participates and waits for a final status in a loop, and sometimes revokes the approval
 * or requests a refund.
 */
export async function createInvestor(
  environment: Environment,
  random: RandomChoices,
  index: number,
  isOver: () => boolean,
): Promise<Investor> {
  const { chain, offer, built, nodes } = environment;
  const { address, approve } = await chain.createWallet(index);
  const [option] = offer.options;
  // Half of the investors approve an unlimited amount once, as many wallets propose. For them, only the service limits
  // how much is taken.
  const allowance = index % 2 === 0 ? null : UNLIMITED;
  const acknowledged: string[] = [];
  let bearer = '';

  /** Repeats the request until a node replies. Repeated requests create only one participation. */
  async function post(amount: bigint, hash: string): Promise<string | null> {
    const body = JSON.stringify({
      ...{ offer_id: offer.id, offer_option_id: option?.id, chain: chain.name, wallet_address: address },
      ...{ amount: String(amount), asset_id: 'usd-coin', approval_transaction_hash: hash },
    });
    while (!isOver()) {
      const reply = await sendRequest(body).catch(() => null);
      if (reply?.status === 200) return String(reply.body.id);
      if (reply?.status === 401) bearer = '';
      else if (reply !== null && reply.status < 500 && reply.status !== 429) return null;
      await sleep(100);
    }
    return null;
  }

  async function sendRequest(body: string): Promise<{ status: number; body: Record<string, unknown> }> {
    if (bearer === '') {
      bearer = await issueTokenFor(built.ctx, { userId: userId(index) });
      await proveWallets(built.ctx, [address], { userId: userId(index) });
    }
    const url = random.pick(nodes).url;
    if (url === null) throw new Error('the node is down');
    const reply = await fetch(`${url}/v1/participations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(8_000),
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
  }

  async function statusOf(id: string): Promise<string> {
    const query = built.ctx.db.selectFrom('participations').select('status').where('id', '=', id);
    return (await query.executeTakeFirst().catch(() => undefined))?.status ?? 'unknown';
  }

  return {
    address,
    acknowledged,
    run: async () => {
      while (!isOver()) {
        const amount = (1n + BigInt(random.integer(50))) * UNIT;
        const id = await post(amount, await approve(allowance ?? amount));
        if (id === null) {
          await sleep(100);
          continue;
        }
        acknowledged.push(id);
        if (random.chance(0.1)) await approve(0n);
        while (!isOver() && !FINAL_STATUSES.includes(await statusOf(id))) await sleep(50);
        if (random.chance(0.15)) await requestRemit(built.ctx, id).catch(() => undefined);
      }
    },
  };
}
