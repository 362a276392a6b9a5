import { startPostgres } from '@causeway/sandbox/postgres/server.ts';
import pg from 'pg';

// A process that owns an embedded server, for tests that kill the process. It starts the server on the given folder,
// then inserts numbers and prints each number after its commit.
const [dataDir] = process.argv.slice(2);
if (!dataDir) throw new Error('usage: embedded-owner <data folder>');
try {
  const { url } = await startPostgres({ dataDir, log: () => undefined });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query('create table if not exists numbers (n int primary key)');
  console.log('started');
  for (let n = 1; ; n++) {
    await client.query('insert into numbers values ($1)', [n]);
    console.log(n);
  }
} catch (error) {
  console.log(`failed: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
}
