import type { Chains, EvmChain } from '../../src/chain/evm/client.ts';
import { buildContext } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { buildServer } from '../../src/http/server.ts';
import { createLog } from '../../src/log.ts';
import { participationRoutes } from '../../src/participations/routes.ts';
import { startSettlement } from '../../src/settlement/settlement.ts';
import { DEEPEST_REORGANISATION } from './dice.ts';

/** Deeper than any reorganisation here, as main nets have it. */
const REFUND_DEPTH = DEEPEST_REORGANISATION + 1;

function deepRefunds(chains: Chains): Chains {
  const deepen = (chain: EvmChain) => ({ ...chain, facts: { ...chain.facts, refundDepth: REFUND_DEPTH } });
  return { ...chains, all: () => chains.all().map(deepen) };
}

/** One node of the service: the API of participations and the worker, on the database and the chain it is told. */
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
    await startSettlement({ ...ctx, chains: deepRefunds(ctx.chains) });
    process.send?.({ url: await app.listen({ host: '127.0.0.1', port: 0 }) });
  } catch {
    // The database was killed while this process started: whoever runs it starts it again.
    process.exit(1);
  }
});
// Loading takes longer than living here: the next process is loaded while this one still runs.
// Whoever wanted it may have ended meanwhile.
process.send?.({ loaded: true }, (error: Error | null) => {
  if (error !== null) process.exit(0);
});
