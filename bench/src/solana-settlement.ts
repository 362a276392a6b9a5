import { setTimeout as sleep } from 'node:timers/promises';
import { solanaRoles } from '@causeway/sandbox/seed/solana-keys.ts';
import { parseHash } from '@causeway/service/chain/address.ts';
import { readRent } from '@causeway/service/chain/solana/reads.ts';
import { TOKEN_ACCOUNT_BYTES } from '@causeway/service/chain/solana/token-accounts.ts';
import { newId } from '@causeway/service/http/ids.ts';
import { toTimestamp } from '@causeway/service/http/wire.ts';
import { inspectApprovals } from '@causeway/service/participations/approval.ts';
import { solanaApprovalReader } from '@causeway/service/participations/solana-approval.ts';
import { startSettlement } from '@causeway/service/settlement/settlement.ts';
import { makeOffer } from '../../service/test/support/offers.ts';
import { MINT } from '../../service/test/support/solana-instructions.ts';
import { FUND, solanaSaleFile, UNIT, VAULT } from '../../service/test/support/solana-sale.ts';
import { makeUser, partnerOf } from '../../service/test/support/tokens.ts';
import { proveWallets } from '../../service/test/support/wallets.ts';
import { benchContext } from './context.ts';
import type { ApprovedWallet } from './solana-chain.ts';
import { startTarget } from './target.ts';

/**
 * The figures that this process sends to its parent, which then stops this process. CPU times cover only the service.
 */
export type SolanaFigures = {
  verifiedPerCpuSecond: number;
  settledPerCpuSecond: number;
  settledPerSecond: number;
  seconds: number;
  rpcCallsPerRow: number;
  feeLamportsPerRow: number;
  rentLamportsPerRow: number;
};

/** How many approvals to inspect in one batch. */
const BATCH_ROWS = 50;

async function measure(url: string, approvals: readonly ApprovedWallet[]): Promise<SolanaFigures> {
  const { ctx } = await benchContext({
    rpcUrls: { solana_devnet: [url] },
    solanaKey: { kind: 'local', privateKey: Buffer.from(solanaRoles.operator.seed) },
  });
  const chain = ctx.chains.solana('solana_devnet');
  const offer = await makeOffer(ctx, solanaSaleFile());
  const verification = await measureCpu(async () => {
    for (let i = 0; i < approvals.length; i += BATCH_ROWS) {
      const required = approvals.slice(i, i + BATCH_ROWS).map(({ address, signature }) => ({
        ...{ user: address, fund: FUND, token: MINT, amount: UNIT, source: null, approvalHash: signature },
      }));
      const findings = await inspectApprovals(solanaApprovalReader(chain), required);
      if (findings.some(({ state }) => state !== 'good')) throw new Error('an approval was refused');
    }
  });
  await insertRows(ctx, offer, approvals);
  const sentBefore = chain.rpc.sent();
  const settlement = await measureCpu(async () => {
    const worker = await startSettlement(ctx);
    const isOpen = () =>
      ctx.db.selectFrom('participations').select('id').where('status', '<>', 'completed').executeTakeFirst();
    while ((await isOpen()) !== undefined) await sleep(200);
    await worker.stop();
  });
  const rows = approvals.length;
  const rpcCallsPerRow = (chain.rpc.sent() - sentBefore) / rows;
  const paid = await ctx.db.selectFrom('operator_transactions').select('fee_paid').execute();
  return {
    verifiedPerCpuSecond: rows / verification.cpuSeconds,
    settledPerCpuSecond: rows / settlement.cpuSeconds,
    settledPerSecond: rows / settlement.seconds,
    seconds: settlement.seconds,
    rpcCallsPerRow,
    feeLamportsPerRow: paid.reduce((sum, { fee_paid }) => sum + Number(fee_paid), 0) / rows,
    rentLamportsPerRow: Number(await readRent(chain, TOKEN_ACCOUNT_BYTES)),
  };
}

async function insertRows(
  ctx: Awaited<ReturnType<typeof benchContext>>['ctx'],
  offer: Awaited<ReturnType<typeof makeOffer>>,
  approvals: readonly ApprovedWallet[],
): Promise<void> {
  const userId = await makeUser(ctx);
  const now = toTimestamp(ctx.clock.micros());
  const rows = approvals.map(({ address, source, signature }) => ({
    ...{ id: newId(ctx.clock, ctx.random), partner_id: partnerOf('partner-one'), user_id: userId },
    ...{ offer_id: offer.id, offer_option_id: offer.options[0]?.id ?? '', reason: null },
    ...{ status: 'pending' as const, chain: 'solana_devnet', amount: String(UNIT) },
    ...{ asset_id: 'usd-coin', asset_code: 'USDC', asset_name: 'USD Coin', asset_digits: 6 },
    ...{ wallet_address: address, fund_address: FUND, token_address: MINT },
    ...{ source_address: source, vault_address: VAULT },
    ...{ approval_hash: parseHash('solana_devnet', signature) ?? Buffer.alloc(0) },
    ...{ prepared_at: now, inserted_at: now, updated_at: now },
  }));
  for (let i = 0; i < rows.length; i += 500)
    await ctx.db
      .insertInto('participations')
      .values(rows.slice(i, i + 500))
      .execute();
  await proveWallets(
    ctx,
    rows.map((row) => row.wallet_address),
  );
}

async function measureCpu(work: () => Promise<void>): Promise<{ seconds: number; cpuSeconds: number }> {
  const start = performance.now();
  const cpuStart = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(cpuStart);
  return { seconds: (performance.now() - start) / 1000, cpuSeconds: (user + system) / 1e6 };
}

const { target, stop } = await startTarget<{ url: string; approvals: ApprovedWallet[] }>(
  './solana-chain.ts',
  process.argv.slice(2),
);
const figures = await measure(target.url, target.approvals);
await stop();
process.send?.(figures);
