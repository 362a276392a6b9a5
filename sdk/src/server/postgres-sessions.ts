import type { SessionStorage } from './session-storage.ts';

/** The part of a `pg` pool or client that the SDK uses. */
export type PostgresClient = {
  query(text: string, values?: unknown[]): Promise<{ rows: { value?: unknown }[] }>;
};

export type PostgresSessionsOptions = {
  /**
   * The table's name, optionally with its schema, such as `app.sessions`. The table is created if it does not exist.
   * Default: `causeway_sessions`.
   */
  table?: string | undefined;
};

/** Lower case only: PostgreSQL would convert capitals to lower case, so the table would not have the given name. */
const TABLE_NAME = /^[a-z_][a-z0-9_]{0,62}(\.[a-z_][a-z0-9_]{0,62})?$/;
/** The id of the lock that makes concurrent processes create the table one at a time. The value is arbitrary. */
const CREATE_LOCK = 7_263_540_119;
/** The maximum number of expired rows to delete each time a session is created. */
const CLEANUP_BATCH = 10;

/**
 * Stores sessions in PostgreSQL, shared by all processes of your server.
 *
 * @example
 * ```ts
 * import { createSignIn, type PostgresClient, postgresSessions } from '@causeway/sdk/server';
 *
 * export function createAppSignIn(pool: PostgresClient, clientSecret: string, cookieSecret: string) {
 *   return createSignIn({
 *     baseUrl: 'http://127.0.0.1:8080',
 *     clientId: 'sandbox-partner',
 *     clientSecret,
 *     redirectUri: 'http://localhost:3000/callback',
 *     cookieSecret,
 *     store: postgresSessions(pool), // new pg.Pool({ connectionString: process.env.DATABASE_URL })
 *   });
 * }
 * ```
 */
export function postgresSessions(
  client: PostgresClient,
  { table = 'causeway_sessions' }: PostgresSessionsOptions = {},
): SessionStorage {
  if (!TABLE_NAME.test(table))
    throw new TypeError(`table must be a lower-case name such as "causeway_sessions", not "${table}"`);
  let created: Promise<unknown> | undefined;
  const query = async (text: string, values: unknown[]) => {
    created ??= client.query(createTable(table)).catch((error: unknown) => {
      created = undefined;
      throw error;
    });
    await created;
    return client.query(text, values);
  };
  return {
    read: async (key) => {
      const { rows } = await query(`select value from ${table} where key = $1 and expires_at > now()`, [key]);
      return rows[0] === undefined ? undefined : String(rows[0].value);
    },
    write: async (key, value, ttlS) => {
      await query(
        `insert into ${table} (key, value, expires_at) values ($1, $2, now() + make_interval(secs => $3))
         on conflict (key) do update set value = excluded.value, expires_at = excluded.expires_at`,
        [key, value, ttlS],
      );
      await query(
        `delete from ${table} where key in (select key from ${table} where expires_at < now() limit ${CLEANUP_BATCH})`,
        [],
      );
    },
    update: async (key, value, ttlS) => {
      await query(
        `update ${table} set value = $2, expires_at = now() + make_interval(secs => $3)
         where key = $1 and expires_at > now()`,
        [key, value, ttlS],
      );
    },
    delete: async (key) => {
      await query(`delete from ${table} where key = $1`, [key]);
    },
  };
}

/**
 * Returns a statement that creates the table if it does not exist. If the table exists, the statement needs no
 * privilege to create tables.
 */
function createTable(table: string): string {
  return `do $$ begin
    perform pg_advisory_xact_lock(${CREATE_LOCK});
    if to_regclass('${table}') is null then
      create table ${table} (key text primary key, value text not null, expires_at timestamptz not null);
      create index on ${table} (expires_at);
    end if;
  end $$`;
}
