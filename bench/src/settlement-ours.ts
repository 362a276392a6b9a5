import { setTimeout as sleep } from 'node:timers/promises';
import { deriveSandboxKey } from '@causeway/service/operator/sandbox-keys.ts';
import { startSettlement } from '@causeway/service/settlement/settlement.ts';
import { sql } from 'kysely';
import { hexToBytes, toHex } from 'viem/utils';
import { makeOffer } from '../../service/test/support/offers.ts';
import { saleOfferFile } from '../../service/test/support/sale.ts';
import { benchContext } from './context.ts';
import { readCpuMs } from './cpu.ts';
import type { SettlementChain } from './settlement-chain.ts';
import { seedSettlement } from './settlement-seed.ts';
import { startTarget } from './target.ts';

/** The result of the measurement. This process sends the result to its parent, which then stops this process. */
export type SettlementFigures = {
  /** Gas per row (one participation): `single` with one commit per row, `batched` with the worker's batches. */
  single: number;
  batched: number;
  transactions: number;
  seconds: number;
  rowsPerSecond: number;
  serviceMsPerRow: number;
  /** The CPU time of the database and of the simulated chain, or null if the system has no `/proc`. */
  databaseMsPerRow: number | null;
  chainMsPerRow: number | null;
};

export type SettlementModel = {
  /** The measurement ends when this many of the waiting rows (see `backlog`) are settled. */
  count: number;
  backlog: number;
  /** Rows in the table that have already been settled. */
  history: number;
  /** If there are fewer wallets than rows, each wallet owns several rows. */
  wallets: number;
  generation: 1 | 2;
  /** The time between two blocks. With 0, the chain mines on demand. */
  blockMs: number;
  /** The number of blocks after which a commit is confirmed. */
  confirmations: number;
};

async function measure(model: SettlementModel, chain: SettlementChain): Promise<SettlementFigures> {
  const { count } = model;
  const { ctx } = await benchContext({
    rpcUrls: { ethereum_sepolia: [chain.url] },
    operatorKey: { kind: 'local', privateKey: Buffer.from(hexToBytes(deriveSandboxKey('operator'))) },
  });
  const offer = await makeOffer(ctx, saleOfferFile(chain.deployment, chain.fund));
  const evm = ctx.chains.evm('ethereum_sepolia');
  evm.facts = { ...evm.facts, confirmations: model.confirmations };
  await seedSettlement(ctx, offer, chain, ctx.signerOf('commit', 'ethereum_sepolia')?.address ?? '', model);
  const { rows: files } = await sql<{ text: string }>`select pg_read_file('postmaster.pid') as text`.execute(
    ctx.db,
  );
  const databasePid = Number.parseInt(files[0]?.text ?? '', 10);
  const lastOf = ctx.db
    .selectFrom('participations')
    .select('status')
    .where('id', '=', `00000000-0000-7000-8000-${(count - 1).toString(16).padStart(12, '0')}`);
  const start = performance.now();
  const [cpuStart, databaseStart, chainStart] = [
    ...[process.cpuUsage(), readCpuMs(databasePid), readCpuMs(chain.pid)],
  ] as const;
  const settlement = await startSettlement(ctx);
  // Rows are committed in order, so the measurement ends with the last of the `count` rows.
  while ((await lastOf.executeTakeFirstOrThrow()).status !== 'completed') await sleep(100);
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpuStart);
  const [databaseEnd, chainEnd] = [readCpuMs(databasePid), readCpuMs(chain.pid)];
  const taken = await ctx.db
    .selectFrom('participations')
    .select(({ fn }) => fn.countAll<bigint>().as('committed'))
    .where('status', 'in', ['submitted', 'completed'])
    .executeTakeFirstOrThrow();
  await settlement.stop();
  const mined = await ctx.db
    .selectFrom('participations as p')
    .innerJoin('operator_transactions as t', 't.id', 'p.commit_id')
    .select(['t.mined_hash'])
    .select(({ fn }) => fn.countAll<bigint>().as('rows'))
    .where('p.status', '=', 'completed')
    .where(sql`length(t.mined_hash)`, '=', 32)
    .groupBy('t.id')
    .execute();
  let gas = 0n;
  for (const { mined_hash } of mined) {
    const params = [toHex(mined_hash ?? Buffer.alloc(0))];
    const receipt = await evm.rpc.request({ method: 'eth_getTransactionReceipt', params });
    gas += BigInt((receipt as { gasUsed: string }).gasUsed);
  }
  const settled = mined.reduce((sum, { rows }) => sum + Number(rows), 0);
  // Includes rows that are committed but not completed yet, because they used CPU time too.
  const committed = Number(taken.committed) - model.history;
  if (settled < count) throw new Error(`only ${settled} of ${count} participations were completed`);
  const perRow = (from: number | null, to: number | null) =>
    from === null || to === null ? null : (to - from) / committed;
  return {
    single: chain.single,
    batched: Number(gas) / settled,
    transactions: mined.length,
    seconds,
    rowsPerSecond: count / seconds,
    serviceMsPerRow: (user + system) / 1000 / committed,
    databaseMsPerRow: perRow(databaseStart, databaseEnd),
    chainMsPerRow: perRow(chainStart, chainEnd),
  };
}

const model: SettlementModel = JSON.parse(process.argv[2] ?? '{}');
const units = Math.ceil(model.backlog / model.wallets);
const { target, stop } = await startTarget<SettlementChain>(
  './settlement-chain.ts',
  [model.wallets, units, model.generation, model.blockMs].map(String),
);
try {
  process.send?.(await measure(model, target));
} finally {
  await stop();
}
