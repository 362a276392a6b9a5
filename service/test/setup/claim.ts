import pg from 'pg';

const MARK = 'made for the tests of causeway';

/**
 * Makes sure that tests never write to somebody else's server. Throws unless the database at `url` is empty or has our
 * mark. Marks an empty database. The tests then create their own databases on the same server.
 */
export async function claimServer(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; comment: string | null; relations: number }>(
      `select current_database() as name,
        (select shobj_description(oid, 'pg_database') from pg_database where datname = current_database()) as comment,
        (select count(*)::int from pg_class c join pg_namespace n on n.oid = c.relnamespace
          where n.nspname <> 'information_schema' and n.nspname not like 'pg\\_%') as relations`,
    );
    const found = rows[0];
    if (!found) throw new Error('The database server returned no row.');
    if (found.comment === MARK) return;
    if (found.relations > 0)
      throw new Error(
        `The database "${found.name}" contains ${found.relations} relations that the tests did not create. ` +
          'Set TEST_DATABASE_URL to an empty database, or unset it and DATABASE_URL.',
      );
    await client.query(`comment on database ${client.escapeIdentifier(found.name)} is '${MARK}'`);
  } finally {
    await client.end();
  }
}
