import pg from 'pg';

const mark = 'made for the tests of causeway';

/**
 * Tests write to a database that is theirs and to none else: the one of `url` must carry our mark, or be empty, in
 * which case it gets the mark now. All test databases are made beside it under names of their own.
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
    if (!found) throw new Error('The database server does not answer.');
    if (found.comment === mark) return;
    if (found.relations > 0)
      throw new Error(
        `The database "${found.name}" holds ${found.relations} relations that the tests did not make. ` +
          'Let TEST_DATABASE_URL name an empty one, or unset it and DATABASE_URL.',
      );
    await client.query(`comment on database ${client.escapeIdentifier(found.name)} is '${mark}'`);
  } finally {
    await client.end();
  }
}
