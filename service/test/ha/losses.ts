import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type Investor, type RollingSale, SLUG } from '../rolling/investors.ts';
import { type Cluster, query, type Server, waitFor } from './cluster.ts';
import type { Nodes } from './nodes.ts';
import { createRetryingSend } from './stream.ts';

type Parts = { cluster: Cluster; sale: RollingSale; nodes: Nodes; folder: string; url: string };

/** A way to lose what the database has stored since `remember`. */
type Loss = {
  /** Whether some versions of Patroni avoid the loss. */
  isAvoidable?: boolean;
  remember(): Promise<unknown>;
  lose(): Promise<unknown>;
};

const CHAIN = 'ethereum_sepolia';
/** Enough time for several settlement rounds. */
const WATCH_MS = 3_000;

/** Restores a dump, as docs/operate/restore.md describes. */
function restoreDump({ cluster: { url, tools }, nodes, folder }: Parts): Loss {
  const run = promisify(execFile);
  const file = join(folder, 'causeway.dump');
  const admin = url.replace(/\/causeway$/, '/postgres');
  return {
    remember: () => run(join(tools, 'pg_dump'), ['--format=custom', '--file', file, '--dbname', url]),
    lose: async () => {
      await nodes.stop();
      await query(admin, 'drop database causeway with (force)');
      await query(admin, 'create database causeway');
      await run(join(tools, 'pg_restore'), ['--exit-on-error', '--dbname', url, file]);
      await nodes.start();
    },
  };
}

/**
 * Freezes the primary until a standby is promoted, then resumes the old primary. A watchdog would have reset the old
 * primary instead. When resumed, Patroni 3.0 takes its lock back, and everything that the new primary has acknowledged
 * is lost. Later versions step down instead, and lose nothing.
 */
function resumeWithoutWatchdog({ cluster }: Parts, primary: Server): Loss {
  return {
    isAvoidable: true,
    remember: async () => {
      await primary.freezeBeforeRenewal();
      await cluster.waitForPrimary(primary);
    },
    lose: async () => {
      primary.signal('SIGCONT');
      await cluster.waitForAgreement();
      await cluster.forgetSynchronousStandby();
      await cluster.waitForStandbys();
    },
  };
}

/** Promotes a lagging standby, which asynchronous replication allows. */
function failOverAsynchronously({ cluster }: Parts, primary: Server): Loss {
  return {
    remember: async () => {
      await cluster.replicateAsynchronously(primary);
      await waitForReplay(cluster);
      if (primary.signal('SIGSTOP', 'walsender') === 0) throw new Error('no standby replicates');
    },
    lose: async () => {
      primary.signal('SIGKILL');
      await cluster.waitForPrimary(primary);
    },
  };
}

/** How the database can lose its record of on-chain commits. The last way leaves only two servers running. */
export const losses: Record<string, (parts: Parts, primary: Server) => Loss> = {
  'restored dump': restoreDump,
  'resumed primary without a watchdog': resumeWithoutWatchdog,
  'asynchronous failover': failOverAsynchronously,
};

/**
 * Makes the database lose its record of commits that are on chain. Settlement must then stop by itself, commit nothing
 * twice, and continue once an operator has reconciled. Returns the problems found.
 */
export async function loseCommits(
  { cluster, sale, nodes, url }: Parts,
  investors: readonly Investor[],
  name: string,
  loss: Loss,
): Promise<string[]> {
  const send = createRetryingSend(url, { requests: 0, failures: [], settled: 0 }, () => true);
  await waitFor('settlement to pause', () => nodes.command('settlement', 'pause'));
  const ids = await Promise.all(investors.map((investor) => sale.invest(send, investor)));
  await waitForStatus(cluster, ids, 'pending');
  await loss.remember();
  await waitFor('settlement to resume', () => nodes.command('settlement', 'resume'));
  await waitForStatus(cluster, ids, 'completed');
  await loss.lose();
  const lost = await waitFor('the database', () => readStatuses(cluster, ids));
  if (loss.isAvoidable && lost.length === ids.length && lost.every((status) => status === 'completed')) {
    console.log(`${name}: lost nothing`);
    return [];
  }
  if (lost.length !== ids.length || !lost.every((status) => status === 'pending'))
    return [`${name}: was to lose commits, but the participations are ${lost.join()}`];

  await waitFor('settlement to resume', () => nodes.command('settlement', 'resume'));
  await waitFor('settlement to stop', () => nodes.findBlocked('foreign_nonce'));
  await sleep(WATCH_MS);
  const statuses = await readStatuses(cluster, ids);
  const problems = statuses.every((status) => status === 'pending')
    ? []
    : [`${name}: settlement went on: ${statuses.join()}`];
  await nodes.command('operator', 'reconcile', CHAIN, '--yes');
  await nodes.command('operator', 'adopt', CHAIN);
  await waitForStatus(cluster, ids, 'completed');
  const next = await sale.invest(send, investors[0] as Investor);
  await waitFor('another participation to be completed', async () => {
    // The service may also have noticed that the chain and the database differ, and paused the offer until an operator
    // resumes it.
    await nodes.command('settlement', 'resume', SLUG);
    return (await readStatuses(cluster, [next]))[0] === 'completed' ? true : null;
  });
  await nodes.report();
  console.log(
    `${name}: lost ${lost.length} commits; settlement stopped with foreign_nonce, and reconcile repaired it`,
  );
  return problems;
}

/** Waits until the standbys have replayed everything that is committed now. */
async function waitForReplay({ url }: Cluster): Promise<void> {
  await waitFor('the standbys to catch up', async () => {
    const [row] = await query(
      url,
      `select count(*)::int as n from pg_stat_replication where replay_lsn >= pg_current_wal_flush_lsn()`,
    );
    return Number(row?.n) === 2 ? true : null;
  });
}

async function readStatuses({ url }: Cluster, ids: readonly (string | null)[]): Promise<unknown[]> {
  const rows = await query(url, 'select status from participations where id = any($1::uuid[])', [ids]);
  return rows.map(({ status }) => status);
}

async function waitForStatus(cluster: Cluster, ids: readonly (string | null)[], wanted: string) {
  await waitFor(`participations to be ${wanted}`, async () => {
    const statuses = await readStatuses(cluster, ids);
    return statuses.length === ids.length && statuses.every((status) => status === wanted) ? true : null;
  });
}
