import type { Context } from '@causeway/service/context.ts';
import { listEvents } from '@causeway/service/events/store.ts';
import { newId } from '@causeway/service/http/ids.ts';
import { sql } from 'kysely';
import { median } from './statistics.ts';

export type PageFigures = { firstPageMs: number; deepestPageMs: number };

const BATCH_SIZE = 20_000;
const SAMPLES = 400;

/**
 * Compares the time to read the newest page and the oldest page from a log with `rows` events of one partner. The reads
 * alternate.
 */
export async function measurePages(ctx: Context, rows: number): Promise<PageFigures> {
  const partnerId = newId(ctx.clock, ctx.random);
  await sql`insert into partners (id, name) values (${partnerId}, 'Pages')`.execute(ctx.db);
  await seedEvents(ctx, partnerId, rows);
  const time = async (sequence: string | null) => {
    const startedAt = performance.now();
    const page = await listEvents(ctx.db, { partnerId, userId: null }, [], {
      ...{ direction: 'older', sequence, limit: 21 },
    });
    if (page.rows.length !== 21) throw new Error(`a page has ${page.rows.length} rows instead of 21`);
    return performance.now() - startedAt;
  };
  const first: number[] = [];
  const deepest: number[] = [];
  for (let n = 0; n < SAMPLES; n++) {
    first.push(await time(null));
    deepest.push(await time('22'));
  }
  // Drops the first quarter of the samples, taken while the process warms up.
  return { firstPageMs: median(first.slice(SAMPLES / 4)), deepestPageMs: median(deepest.slice(SAMPLES / 4)) };
}

/**
 * Inserts events with their positions already set, so that readers see the events. The ids increase, as real ids do.
 */
export async function seedEvents(ctx: Context, partnerId: string, rows: number): Promise<void> {
  for (let from = 0; from < rows; from += BATCH_SIZE)
    await sql`insert into events (id, partner_id, type, data, inserted_at, position, sequence)
      select ('01900000-0000-7000-8000-' || lpad(to_hex(${from}::bigint + i), 12, '0'))::uuid, ${partnerId},
        'offer.published', '{"object":"offer"}', now(), ${10 ** 12 + from}::bigint + i, ${from}::bigint + i
      from generate_series(1, ${Math.min(BATCH_SIZE, rows - from)}::int) i`.execute(ctx.db);
  await sql`insert into partner_sequences values (${partnerId}, ${rows})`.execute(ctx.db);
  const client = await ctx.pool.connect();
  // Vacuums now. Otherwise the database would vacuum in the background during the measurement.
  for (const text of ['set statement_timeout = 0', 'vacuum analyze events', 'checkpoint'])
    await client.query({ text, query_timeout: 3_600_000 } as never);
  client.release(true);
}
