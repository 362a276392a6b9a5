import { buildContext } from '../../src/compose.ts';
import { participationRoutes } from '../../src/domain/participations/routes.ts';
import { FOLLOW_TIMINGS, startSettlement } from '../../src/domain/settlement/settlement.ts';
import { loadConfig } from '../../src/kernel/config/config.ts';
import { createLog } from '../../src/kernel/log.ts';
import type { EvmChain } from '../../src/platform/chain/evm/client.ts';
import type { Chains } from '../../src/platform/chain/open-chains.ts';
import { buildServer } from '../../src/platform/http/server.ts';
import { MAX_REORGANISATION_DEPTH } from './random-choices.ts';

/**
 * How deep a commit must be before it can be refunded: deeper than any reorganization in this test, as on
 * mainnets.
 */
const REFUND_DEPTH = MAX_REORGANISATION_DEPTH + 1;

/**
 * Shorter than the default, because the test kills the process after a few seconds. Before the kill, the process must
 * be able to replace a transaction that a fee spike has outbid.
 */
const TIMINGS = { ...FOLLOW_TIMINGS, resendSeconds: 2, bumpSeconds: 5 };

/**
 * The timings are shorter than the default, because the slots of this test are shorter than on the public
 * networks.
 */
const RECEIPT_TIMINGS = { resendSeconds: 0.5, renewSeconds: 3 };

function withRefundDepth(chains: Chains): Chains {
  const withDepth = (chain: EvmChain) => ({ ...chain, facts: { ...chain.facts, refundDepth: REFUND_DEPTH } });
  return { ...chains, all: () => chains.all().map(withDepth) };
}

// One service node: the participation routes and the settlement workers. Environment variables configure it.
const config = loadConfig(process.env);
const log = createLog({ level: process.env.TORTURE_LOG ?? 'silent', pretty: false });
process.on('disconnect', () => process.exit(0));
process.once('message', async () => {
  try {
    const { ctx } = await buildContext({
      config,
      baseUrl: 'http://127.0.0.1',
      databaseUrl: config.databaseUrl ?? '',
      log,
    });
    const app = await buildServer(ctx, participationRoutes);
    await startSettlement({ ...ctx, chains: withRefundDepth(ctx.chains) }, TIMINGS, RECEIPT_TIMINGS);
    process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
  } catch {
    // The database was killed while this process was starting. The parent starts another process.
    process.exit(1);
  }
});
// Loading the code takes longer than a process lives in this test, so the parent starts the next process
// while this one runs. The callback gets an error if the parent has exited.
process.send?.({ loaded: true }, (error: Error | null) => {
  if (error !== null) process.exit(0);
});
