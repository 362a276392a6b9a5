import { type ChildProcess, spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import { openPool } from '../../src/platform/db/pool.ts';
import { freePort } from '../../src/platform/http/listening.ts';
import { prepareHold } from './hold-patroni.ts';
import { createNetwork, type Machine } from './network.ts';

const SERVERS = 3;
const POSTGRESQL = '/usr/lib/postgresql';
/** Generous, because a standby on a busy machine may need minutes to rewind. */
const TIMEOUT_MS = 300_000;
/** Shorter than in `deploy/patroni/patroni.yml`, so that a failover takes seconds. */
const TIMINGS = { ttl: 8, loop_wait: 1, retry_timeout: 3 };

type Member = { name: string; role: string };
export type Server = Machine & {
  name: string;
  start(): void;
  /** Freezes the machine just before Patroni renews its lock. */
  freezeBeforeRenewal(): Promise<void>;
};
export type Cluster = Awaited<ReturnType<typeof startCluster>>;

/** Starts etcd, three PostgreSQL servers under Patroni with the shipped configuration, and HAProxy in front of them. */
export async function startCluster(folder: string) {
  const network = createNetwork(SERVERS);
  const children: ChildProcess[] = [];
  const run = (name: string, [command, ...args]: readonly [string, ...string[]]) => {
    const log = openSync(join(folder, `${name}.log`), 'a');
    children.push(spawn(command, args, { stdio: ['ignore', log, log], cwd: folder }));
    closeSync(log);
  };
  const [etcdPort, peerPort, proxyPort] = [await freePort(), await freePort(), await freePort()];
  const etcdUrl = `http://${network.address}:${etcdPort}`;
  run('etcd', [
    ...(['etcd', '--data-dir', join(folder, 'etcd'), '--log-level', 'error'] as const),
    ...['--listen-client-urls', etcdUrl, '--advertise-client-urls', etcdUrl],
    ...['--listen-peer-urls', `http://127.0.0.1:${peerPort}`],
  ]);
  const servers: Server[] = network.machines.map((machine, index) => {
    const name = `pg${index + 1}`;
    const file = writeSettings(folder, name, machine, network.subnet, `${network.address}:${etcdPort}`);
    const asPostgres = ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'];
    const hold = prepareHold(folder, join(folder, name));
    const start = () => run(name, machine.on(...asPostgres, 'env', ...hold.environment, 'patroni', file));
    const freezeBeforeRenewal = async () => {
      hold.request();
      await waitFor('Patroni to renew its lock', async () => hold.isHolding());
      machine.signal('SIGSTOP');
      hold.release();
    };
    return { ...machine, name, start, freezeBeforeRenewal };
  });
  for (const server of servers) server.start();
  const proxyFile = join(folder, 'database.cfg');
  writeFileSync(proxyFile, proxySettings(proxyPort, servers));
  run('database-proxy', ['/usr/sbin/haproxy', '-db', '-f', proxyFile]);

  const members = async (): Promise<Member[]> => {
    for (const { address } of servers) {
      const reply = await call(address, 'GET', '/cluster');
      if (reply?.ok) return ((await reply.json()) as { members: Member[] }).members;
    }
    return [];
  };
  /** Waits until a server other than `former` accepts writes, and returns that server. */
  const waitForPrimary = (former?: Server) =>
    waitFor('a primary', async () => {
      for (const server of servers)
        if (server !== former && (await call(server.address, 'GET', '/primary'))?.status === 200)
          return server;
      return null;
    });
  const admin = `postgres://postgres@127.0.0.1:${proxyPort}/postgres`;
  const url = admin.replace(/postgres$/, 'causeway');
  /**
   * Returns whether all other servers follow this one. Patroni's own status is not enough, because it reports a standby
   * as running even if the standby still has to rewind.
   */
  const isFollowed = async ({ address }: Server): Promise<boolean> => {
    const text = `select from pg_stat_replication where state = 'streaming' and application_name ~ '^pg[0-9]$'`;
    return (await query(`postgres://postgres@${address}:5432/postgres`, text)).length === SERVERS - 1;
  };
  /** Waits until only one server calls itself the primary, and the others follow it. */
  const waitForAgreement = () =>
    waitFor('servers that agree', async () => {
      const replies = await Promise.all(servers.map(({ address }) => call(address, 'GET', '/primary')));
      const [primary, other] = servers.filter((_, index) => replies[index]?.status === 200);
      return primary !== undefined && other === undefined && (await isFollowed(primary)) ? true : null;
    });
  const waitForStandbys = () =>
    waitFor('two standbys, one of which confirms writes', async () => {
      const isConfirming = (await members()).some(({ role }) => role === 'sync_standby');
      return isConfirming && (await isFollowed(await waitForPrimary())) ? true : null;
    });
  return {
    /** The two documented ways to reach the database: through HAProxy, and with all hosts in the URL. */
    url,
    hostsUrl: `postgres://postgres@${servers.map(({ address }) => `${address}:5432`).join(',')}/causeway`,
    /** The folder that contains pg_dump and pg_restore. */
    tools: binaries(),
    waitForPrimary,
    waitForAgreement,
    waitForStandbys,
    /** Waits for all servers and creates the database. */
    waitUntilReady: async () => {
      await waitForPrimary();
      await waitForStandbys();
      await waitFor('the database', () => query(admin, 'create database causeway'));
    },
    /** Hands over to the standby that confirms writes. */
    switchOver: async (primary: Server): Promise<void> => {
      await waitFor('a switchover', async () => {
        const found = await members();
        const [leader, candidate] = ['leader', 'sync_standby'].map(
          (role) => found.find((member) => member.role === role)?.name,
        );
        // On a busy machine, Patroni may refuse at first, or switch over but reply too late.
        if (leader !== undefined && leader !== primary.name) return true;
        const reply = await call(primary.address, 'POST', '/switchover', { leader, candidate });
        return reply?.ok ? true : null;
      });
      await waitForPrimary(primary);
    },
    /**
     * Turns off synchronous replication. A commit then no longer waits for a standby, so acknowledged data can be lost.
     */
    replicateAsynchronously: async (primary: Server): Promise<void> => {
      const settings = { synchronous_mode: false, synchronous_mode_strict: false };
      await call(primary.address, 'PATCH', '/config', settings);
      await waitFor('asynchronous replication', async () =>
        (await query(url, 'show synchronous_standby_names'))[0]?.synchronous_standby_names === ''
          ? true
          : null,
      );
    },
    /**
     * Deletes the record of which standby confirms writes. Patroni 3.0 does not overwrite this record after it has
     * taken the lock from another server.
     */
    forgetSynchronousStandby: async (): Promise<void> => {
      const key = Buffer.from('/service/causeway/sync').toString('base64');
      await fetch(`${etcdUrl}/v3/kv/deleterange`, { method: 'POST', body: JSON.stringify({ key }) });
    },
    close: () => {
      network.close();
      for (const child of children) child.kill('SIGKILL');
    },
  };
}

/** Adapts the shipped configuration to this machine, which has no certificate and no watchdog. */
function writeSettings(folder: string, name: string, { address }: Machine, subnet: string, etcd: string) {
  const settings = parse(
    readFileSync(new URL('../../../deploy/patroni/patroni.yml', import.meta.url), 'utf8'),
  );
  const { ssl, ssl_cert_file, ssl_key_file, ...parameters } = settings.bootstrap.dcs.postgresql.parameters;
  const home = join(folder, name);
  settings.name = name;
  settings.restapi = { listen: `${address}:8008`, connect_address: `${address}:8008` };
  settings.etcd3.hosts = etcd;
  Object.assign(settings.bootstrap.dcs, TIMINGS);
  settings.bootstrap.dcs.postgresql.parameters = parameters;
  Object.assign(settings.postgresql, {
    ...{ listen: `${address}:5432`, connect_address: `${address}:5432` },
    ...{ data_dir: join(home, 'data'), bin_dir: binaries(), pgpass: join(home, 'pgpass') },
    parameters: { unix_socket_directories: home },
    pg_hba: ['local all all trust', `host replication all ${subnet} trust`, `host all all ${subnet} trust`],
  });
  settings.watchdog.mode = 'off';
  mkdirSync(home);
  const { uid, gid } = statSync('/var/lib/postgresql');
  chownSync(home, uid, gid);
  const file = join(folder, `${name}.yml`);
  writeFileSync(file, stringify(settings));
  return file;
}

/** Returns the folder with the programs of the newest installed PostgreSQL version. */
function binaries(): string {
  return join(POSTGRESQL, readdirSync(POSTGRESQL).sort().at(-1) ?? '', 'bin');
}

function proxySettings(port: number, servers: readonly Server[]): string {
  return `
defaults
  mode tcp
  timeout connect 2s
  timeout check 1s
  timeout client 1h
  timeout server 1h
frontend postgresql
  bind 127.0.0.1:${port}
  default_backend primary
backend primary
  option httpchk GET /primary
  http-check expect status 200
  default-server check port 8008 inter 300ms fall 2 rise 1 on-marked-down shutdown-sessions
  ${servers.map(({ name, address }) => `server ${name} ${address}:5432`).join('\n  ')}
`;
}

async function call(address: string, method: string, path: string, body?: object): Promise<Response | null> {
  return fetch(`http://${address}:8008${path}`, {
    ...{ method, signal: AbortSignal.timeout(path === '/switchover' ? 30_000 : 1_000) },
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }).catch(() => null);
}

/** Polls until `read` returns something other than null. If that never happens, reports the last error of `read`. */
export async function waitFor<T>(subject: string, read: () => Promise<T | null>): Promise<T> {
  const end = Date.now() + TIMEOUT_MS;
  for (let cause: unknown; ; ) {
    const found = await read().catch((error) => {
      cause = error;
      return null;
    });
    if (found !== null) return found;
    if (Date.now() > end) throw new Error(`timed out waiting for ${subject}`, { cause });
    await sleep(200);
  }
}

export async function query(
  url: string,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const { pool, close } = openPool(url, { max: 1 });
  return (await pool.query(text, values).finally(close)).rows;
}
