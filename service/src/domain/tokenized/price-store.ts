import { sql } from 'kysely';
import { deleteInBatches } from '../../platform/db/delete-in-batches.ts';
import type { Db } from '../../platform/db/pool.ts';

export type RecordedPrice = { symbol: string; recorded_at: string; price: string; session: string };

/** Marks the first price of each hour as the hourly price (`is_kept`). Skips a price that exists already. */
export async function insertPrices(db: Db, prices: readonly RecordedPrice[]): Promise<void> {
  await sql`
    insert into tokenized_prices (symbol, recorded_at, price, session, is_kept)
    select symbol, recorded_at, price, session,
      row_number() over (partition by symbol, date_trunc('hour', recorded_at) order by recorded_at) = 1
        and not exists (select 1 from tokenized_prices old
          where old.symbol = new.symbol and old.is_kept
            and old.recorded_at >= date_trunc('hour', new.recorded_at) and old.recorded_at < new.recorded_at)
    from jsonb_to_recordset(${JSON.stringify(prices)}::jsonb)
      as new (symbol text, recorded_at timestamptz, price numeric, session text)
    on conflict do nothing`.execute(db);
}

export async function hasPrices(db: Db): Promise<boolean> {
  const { rows } = await sql`select 1 from tokenized_prices limit 1`.execute(db);
  return rows.length > 0;
}

export async function hasPrice(db: Db, symbol: string, recordedAt: string): Promise<boolean> {
  const { rows } = await sql`select 1 from tokenized_prices
    where symbol = ${symbol} and recorded_at = ${recordedAt}`.execute(db);
  return rows.length > 0;
}

type PricePoint = { price: string; recorded_at: string };

/** The last price in each interval of `stepSeconds`, oldest first, for the `seconds` that end at the newest price. */
export async function listPrices(
  db: Db,
  symbol: string,
  { seconds, stepSeconds, now }: { seconds: number; stepSeconds: number; now: string },
): Promise<PricePoint[]> {
  const { rows } = await sql<PricePoint>`
    select distinct on (step) price, recorded_at from (
      select date_bin(make_interval(secs => ${stepSeconds}), recorded_at, 'epoch') as step,
        trim_scale(price)::text as price, recorded_at
      from tokenized_prices
      where symbol = ${symbol} and recorded_at <= ${now} and recorded_at > (
        select max(recorded_at) from tokenized_prices where symbol = ${symbol} and recorded_at <= ${now}
      ) - make_interval(secs => ${seconds})) as stepped
    order by step, recorded_at desc`.execute(db);
  return rows;
}

/** Returns the last regular-session price from before the current day in New York. `now` is the current time. */
export async function findPreviousClose(db: Db, symbol: string, now: string): Promise<string | null> {
  const { rows } = await sql<{ price: string }>`
    select trim_scale(price)::text as price from tokenized_prices
    where symbol = ${symbol} and session = 'regular'
      and recorded_at < date_trunc('day', ${now}::timestamptz, 'America/New_York')
    order by recorded_at desc limit 1`.execute(db);
  return rows[0]?.price ?? null;
}

/** Only the hourly prices if `isKept` is true, only the others if it is false. */
export async function deletePrices(
  db: Db,
  { isKept, before }: { isKept: boolean; before: string },
): Promise<void> {
  await deleteInBatches(db, 'tokenized_prices', sql`is_kept = ${isKept} and recorded_at < ${before}`);
}
