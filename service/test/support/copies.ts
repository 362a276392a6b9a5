import { sql } from 'kysely';
import type { TestApp } from './app.ts';

/**
 * Copies a participation `count` times, as if the copies had been created just before the original. Each copy has an
 * amount of 1 (in the smallest unit of the token) and shares the original's approval.
 */
export async function copyParticipation({ ctx: { db } }: TestApp, id: string, count: number): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select column_name as name from information_schema.columns
    where table_name = 'participations' and table_schema = current_schema()`.execute(db);
  const changes: Record<string, ReturnType<typeof sql>> = {
    id: sql`gen_random_uuid()`,
    amount: sql`1`,
    holds_approval: sql`false`,
    inserted_at: sql`inserted_at - interval '1 second'`,
  };
  const names = rows.map(({ name }) => sql.ref(name));
  const values = rows.map(({ name }) => changes[name] ?? sql.ref(name));
  await sql`insert into participations (${sql.join(names)})
    select ${sql.join(values)} from participations, generate_series(1, ${count}) where id = ${id}`.execute(
    db,
  );
}
