import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, realClock } from '@causeway/service/clock.ts';
import { buildServer } from '@causeway/service/http/server.ts';
import { applyOffers } from '@causeway/service/offers/apply.ts';
import { parseOfferFile } from '@causeway/service/offers/file.ts';
import { publishOffer } from '@causeway/service/offers/lifecycle.ts';
import { deriveSandboxKey } from '@causeway/service/operator/sandbox-keys.ts';
import { tokenizedRoutes } from '@causeway/service/tokenized/routes.ts';
import { benchContext } from './context.ts';
import type { Stats } from './tokenized-orders.ts';

const [, , venueUrl = '', apiKey = '', rpcUrl = '', offer = ''] = process.argv;
const real = realClock();
/** How far the service's and the simulators' clocks are ahead of the real clock. */
let aheadMs = 0;
const clock: Clock = {
  now: () => real.now() + aheadMs,
  micros: () => real.micros() + aheadMs * 1000,
  lifetime: () => null,
};
const { ctx, token } = await benchContext(
  {
    venue: { url: venueUrl, apiKey },
    rpcUrls: { ethereum_sepolia: [rpcUrl] },
    operatorKey: { kind: 'local', privateKey: Buffer.from(deriveSandboxKey('operator').slice(2), 'hex') },
  },
  clock,
);
const file = parseOfferFile(offer, { name: 'bench.yaml' });
await applyOffers(ctx, [file]);
await publishOffer(ctx, file.slug);
const app = await buildServer(ctx, tokenizedRoutes);
let served = 0;
let orders: number[] = [];
let last = 0;
app.addHook('onResponse', (request, _reply, done) => {
  if (request.url.startsWith('/v1/tokenized/swap/quote')) served += 1;
  else {
    const now = readCpu();
    orders.push(now - last);
    last = now;
  }
  done();
});
const url = await app.listen({ host: '127.0.0.1', port: 0 });

// Every path returns the statistics (see `Stats`). Two paths also do something first: `/prove/{wallet}` proves a
// wallet, and `/reset/{now}` sets the clock and deletes the orders.
const stats = createServer(async (request, response) => {
  const [, wallet] = /^\/prove\/(0x[0-9a-f]{40})$/.exec(request.url ?? '') ?? [];
  if (wallet !== undefined) await proveWallet(wallet);
  const [, now] = /^\/reset\/(\d+)$/.exec(request.url ?? '') ?? [];
  if (now !== undefined) {
    aheadMs = Number(now) - real.now();
    await ctx.db.deleteFrom('tokenized_orders').execute();
  }
  const metric = await ctx.metrics.registry.getSingleMetric('causeway_upstream_requests_total')?.get();
  const venue = metric?.values.reduce((sum, { value }) => sum + value, 0) ?? 0;
  last = readCpu();
  const reported: Stats = { cpu: last, at: performance.now(), orders, served, venue };
  orders = [];
  response.end(JSON.stringify(reported));
});
await new Promise<void>((resolve) => stats.listen(0, '127.0.0.1', resolve));
const { port } = stats.address() as AddressInfo;
const headers = { authorization: `Bearer ${token}` };
process.send?.({ url, headers, statsUrl: `http://127.0.0.1:${port}` });

/** Returns the CPU milliseconds that this process has used. */
function readCpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

async function proveWallet(address: string): Promise<void> {
  const { id: partner_id } = await ctx.db.selectFrom('partners').select('id').executeTakeFirstOrThrow();
  const { id: user_id } = await ctx.db.selectFrom('users').select('id').executeTakeFirstOrThrow();
  const proof = { partner_id, user_id, address, chain: '*', protocol: 'ethereum', kind: 'key' } as const;
  const proved_at = new Date(ctx.clock.now()).toISOString();
  await ctx.db
    .insertInto('wallet_proofs')
    .values({ ...proof, text: null, signature: null, proved_at })
    .execute();
}
