import { type Config, ConfigError } from '../../kernel/config/config.ts';
import { createSealing } from '../../kernel/sealing.ts';
import { assertProfile, compareSecrets, MISSING_SECRET } from '../../platform/db/installation.ts';
import { pendingMigrations } from '../../platform/db/migrate.ts';
import { type OpenPool, openPool } from '../../platform/db/pool.ts';
import { MAX_CLOCK_OFFSET_MS, readServerFacts, type ServerFacts } from '../../platform/db/server-facts.ts';
import { assertSessions } from '../../platform/db/session-check.ts';
import { openSandboxDatabase } from '../sandbox-database.ts';
import {
  type Check,
  describeError,
  type Finding,
  failed,
  ok,
  refusalFinding,
  skipped,
  warning,
} from './finding.ts';

/** The oldest PostgreSQL version that the migrations support. */
const MIN_VERSION = 15;
const MAX_OFFSET_MS = 2_000;
const CONNECT_TIMEOUT_MS = 5_000;

export type DoctorDatabase = OpenPool & { url: string; isMigrated: boolean };

/** `database` is null if there is none, or if it does not answer. */
export async function openDatabase(
  config: Config,
): Promise<{ database: DoctorDatabase | null; findings: Finding[]; close(): Promise<void> }> {
  const embedded = config.databaseUrl === null ? await openSandboxDatabase(config.dataDir ?? '') : undefined;
  const url = config.databaseUrl ?? embedded?.url;
  if (url === undefined) {
    const finding = skipped('database', 'DATABASE_URL is not set, and there is no embedded database');
    return { database: null, findings: [finding], close: async () => undefined };
  }
  const limits = { max: 2, statementTimeoutMs: CONNECT_TIMEOUT_MS, connectionTimeoutMs: CONNECT_TIMEOUT_MS };
  const opened = openPool(url, { ...limits, applicationName: 'causeway-doctor' });
  const close = async () => {
    await opened.close();
    await embedded?.stop();
  };
  try {
    const facts = await readServerFacts(opened.pool);
    const pending = await findPending(opened);
    const database = { ...opened, url, isMigrated: pending.status === 'ok' };
    return { database, findings: [...judgeServer(facts, config), pending], close };
  } catch (error) {
    const remedy =
      'Check DATABASE_URL. Also check that PostgreSQL is running, and that its pg_hba.conf and firewall let this machine connect.';
    return { database: null, findings: [failed('database', describeError(error), remedy)], close };
  }
}

export function judgeServer(facts: ServerFacts, { databasePool }: Pick<Config, 'databasePool'>): Finding[] {
  const { clockOffsetMs, connections, encryption, isLocal, nodes } = facts;
  const major = Math.floor(facts.version / 10_000);
  const version = `PostgreSQL ${major}.${facts.version % 10_000}`;
  const offset = `the clocks of this machine and the database differ by ${(Math.abs(clockOffsetMs) / 1000).toFixed(1)} s`;
  const clockRemedy = 'Run NTP (chrony or systemd-timesyncd) on both machines.';
  // Besides its pool, each node holds one connection for notifications.
  const needed = Math.max(nodes, 1) * ((databasePool ?? 10) + 1);
  const room = `nodes running: ${nodes}; up to ${needed} connections needed, ${connections.used} of ${connections.max} in use`;
  return [
    major < MIN_VERSION
      ? failed('database', version, `Upgrade to PostgreSQL ${MIN_VERSION} or newer.`)
      : ok('database', version),
    judgeEncryption(encryption, isLocal),
    Math.abs(clockOffsetMs) > MAX_CLOCK_OFFSET_MS
      ? failed('clock', offset, clockRemedy)
      : Math.abs(clockOffsetMs) > MAX_OFFSET_MS
        ? warning('clock', offset, clockRemedy)
        : ok('clock', 'in step with the database'),
    needed > connections.max
      ? warning('database pool', room, 'Lower DATABASE_POOL, raise max_connections, or use PgBouncer.')
      : ok('database pool', room),
  ];
}

function judgeEncryption(encryption: ServerFacts['encryption'], isLocal: boolean): Finding {
  const check = 'database TLS';
  if (encryption === 'verified') return ok(check, 'encrypted, certificate verified');
  if (isLocal) return ok(check, 'the connection does not leave this machine');
  return encryption === 'none'
    ? warning(check, 'not encrypted', 'Add ?sslmode=verify-full to DATABASE_URL.')
    : warning(
        check,
        'encrypted, but the certificate is not verified',
        'Use sslmode=verify-full in DATABASE_URL.',
      );
}

async function findPending({ pool }: OpenPool): Promise<Finding> {
  const names = await pendingMigrations(pool);
  if (names.length === 0) return ok('migrations', 'up to date');
  const count = `${names.length} pending, starting with ${names[0]}`;
  return warning('migrations', count, 'Run "causeway migrate", or start a node, which also migrates.');
}

export function databaseChecks(config: Config, { url, pool, db, isMigrated }: DoctorDatabase): Check[] {
  return [
    {
      name: 'notifications',
      run: () =>
        explain('notifications', 'LISTEN, prepared statements and session locks work', () =>
          assertSessions(url, config.databaseListenUrl ?? url),
        ),
    },
    {
      name: 'profile',
      run: () =>
        explain('profile', `the database belongs to the ${config.profile} profile`, () =>
          assertProfile(pool, config.profile),
        ),
    },
    {
      name: 'secret',
      run: async () => {
        if (config.secrets.length === 0) return [skipped('secret', 'CAUSEWAY_SECRET is not set')];
        if (!isMigrated) return [skipped('secret', 'the database is not migrated')];
        const sealing = createSealing(config.secrets, () => Buffer.alloc(0));
        const fingerprint = `fingerprint ${sealing.fingerprints[0]?.toString('hex').slice(0, 12)}`;
        const standing = await compareSecrets(db, sealing);
        if (standing === 'in use') return [ok('secret', `${fingerprint}, in use by the nodes`)];
        if (standing === 'incomplete') {
          const [problem = '', remedy = ''] = MISSING_SECRET.split('; ');
          return [failed('secret', `CAUSEWAY_SECRET ${problem}`, `${remedy}.`)];
        }
        return standing === 'not used yet'
          ? [
              warning(
                'secret',
                `${fingerprint}, not used by a node yet`,
                'Expected before the first start and during a rotation.',
              ),
            ]
          : [
              failed(
                'secret',
                `${fingerprint}, unknown to this database`,
                'Set the CAUSEWAY_SECRET that the nodes use.',
              ),
            ];
      },
    },
  ];
}

async function explain(name: string, good: string, work: () => Promise<void>): Promise<Finding[]> {
  try {
    await work();
    return [ok(name, good)];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [refusalFinding(name, error.message.replace(/^Invalid configuration: /, ''))];
  }
}
