import { setTimeout as sleep } from 'node:timers/promises';
import { startSettlement } from '@causeway/service/domain/settlement/settlement.ts';
import { deriveSandboxKey } from '@causeway/service/kernel/config/sandbox-keys.ts';
import { hexToBytes, toHex } from 'viem/utils';
import { makeOffer } from '../../../service/test/support/offers.ts';
import { saleOfferFile, UNIT } from '../../../service/test/support/sale.ts';
import { partnerOf } from '../../../service/test/support/tokens.ts';
import { benchContext } from './context.ts';
import { readInput } from './input.ts';
import type { SettlementChain } from './settlement-chain.ts';

/** `gas` is the average per participation. */
export type Settled = { gas: number; seconds: number };

const MINUTE_MS = 60_000;

const { url, deployment, fund, usdc, approvals, confirmations } = await readInput<
  SettlementChain & { confirmations: number }
>();
const { ctx } = await benchContext({
  rpcUrls: { ethereum_sepolia: [url] },
  operatorKey: { kind: 'local', privateKey: Buffer.from(hexToBytes(deriveSandboxKey('operator'))) },
});
const offer = await makeOffer(ctx, saleOfferFile(deployment, fund));
const evm = ctx.chains.evm('ethereum_sepolia');
evm.facts = { ...evm.facts, confirmations };
await seed();
const startedAt = performance.now();
const settlement = await startSettlement(ctx);
while ((await countCompleted()) < approvals.length) await sleep(500);
const seconds = (performance.now() - startedAt) / 1000;
await settlement.stop();
process.send?.({ gas: await averageGas(), seconds } satisfies Settled);

async function countCompleted(): Promise<number> {
  const { completed } = await ctx.db
    .selectFrom('participations')
    .select(({ fn }) => fn.countAll<bigint>().as('completed'))
    .where('status', '=', 'completed')
    .executeTakeFirstOrThrow();
  return Number(completed);
}

async function averageGas(): Promise<number> {
  const commits = await ctx.db
    .selectFrom('operator_transactions')
    .select('mined_hash')
    .where('kind', '=', 'commit')
    .where('succeeded', '=', true)
    .execute();
  let gas = 0n;
  for (const { mined_hash } of commits) {
    const params = [toHex(mined_hash ?? Buffer.alloc(0))];
    const receipt = await evm.rpc.request({ method: 'eth_getTransactionReceipt', params });
    gas += BigInt((receipt as { gasUsed: string }).gasUsed);
  }
  return Number(gas) / approvals.length;
}

/** Inserts a user with a proven wallet and a waiting participation for each approval. */
async function seed(): Promise<void> {
  const uuid = `('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`;
  const wallets = `unnest($1::text[], $2::text[]) with ordinality as w (address, hash, n)`;
  const partner = partnerOf('partner-one');
  const values = [approvals.map(({ address }) => address), approvals.map(({ hash }) => hash.slice(2))];
  for (const text of [
    `insert into users (id, email, kind) select ${uuid}, 'user' || n || '@bench.test', 'person' from ${wallets}`,
    `insert into wallet_proofs (partner_id, address, chain, protocol, user_id, kind, proved_at)
      select '${partner}', address, '*', 'ethereum', ${uuid}, 'key', now() from ${wallets}`,
    `insert into participations (id, partner_id, user_id, offer_id, offer_option_id, status, amount, asset_id, asset_code,
        asset_name, asset_digits, chain, wallet_address, fund_address, token_address, approval_hash, holds_approval,
        prepared_at, inserted_at, updated_at)
      select ${uuid}, '${partner}', ${uuid}, '${offer.id}', '${offer.options[0]?.id}', 'pending', ${UNIT}, 'usd-coin', 'USDC',
        'USD Coin', 6, 'ethereum_sepolia', address, '${fund}', '${usdc}', decode(hash, 'hex'), true, now(),
        now() - interval '1 hour' + n * interval '1 ms', now() from ${wallets}`,
  ])
    await ctx.pool.query({ text, values, query_timeout: MINUTE_MS } as never);
  await ctx.pool.query('vacuum analyze');
}
