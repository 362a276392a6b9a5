import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHAIN_NAMES, type ChainName, EVM_CHAIN_NAMES, type EvmChainName } from '../chains.ts';
import { isLoopback } from '../loopback.ts';
import { readOperatorKey, readRetiredKeys, readSolanaKey, readSupplierKey } from './operator-settings.ts';
import { readDocumentSettings, readIdentitySettings, readVenueSettings } from './provider-settings.ts';
import { LIMIT_NAMES, type LimitName } from './rate-limits.ts';
import { type Environment, openSource, type Read, type Source } from './read.ts';
import { readRoleKeys } from './role-keys.ts';
import { SETTINGS } from './settings.ts';

export type { LimitName };

/**
 * The settings of one process; `kernel/config/settings.ts` describes the variables that hold these settings. Null: the
 * variable is not set and has no default.
 */
export type Config = ReturnType<typeof readConfig> & {
  /** The URL of the page that shows the sandbox's mail. Only the sandbox sets this URL. */
  mailboxUrl?: string;
  /** The command line as the audit log records it, with `…` in place of each argument that may be private. */
  commandName?: string;
};

/** Lists everything that is wrong with the configuration, one line per problem. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    const list = problems.length === 1 ? ` ${problems[0]}` : problems.map((each) => `\n  ${each}`).join('');
    super(`Invalid configuration:${list}`);
    this.name = 'ConfigError';
  }
}

/** Reads a node's configuration or throws `ConfigError`. Only this file reads settings from the environment. */
export function loadConfig(env: Environment = process.env): Config {
  const { config, problems } = inspectConfig(env);
  if (problems.length > 0) throw new ConfigError(problems);
  if (config.secrets.length === 0) config.secrets = [createSandboxSecret(config.dataDir)];
  return config;
}

/**
 * Reads the configuration of a node without creating anything. If a setting has a problem, its member of `config` may
 * be null or empty, even where the type forbids it.
 */
export function inspectConfig(env: Environment = process.env): { config: Config; problems: string[] } {
  const source = openSource(env, env.CAUSEWAY_PROFILE === 'production', 'node');
  const { problems, isProduction } = source;
  const config = { ...readConfig(env, source), sandboxPublic: readSandboxExposure(source) };
  if (isProduction && config.clock === 'test')
    problems.push('CAUSEWAY_CLOCK: must not be "test" in production; the test clock is part of the sandbox');
  if (isProduction && config.demo)
    problems.push('CAUSEWAY_DEMO: must not be "on" in production; the demo app is part of the sandbox');
  const isUnlisted = source.read('SANCTIONS') === 'none';
  if (isProduction && !isUnlisted && !env.SANCTIONS_FILE)
    problems.push('SANCTIONS_FILE: is required in production; set SANCTIONS=none to run without a list');
  if (config.rateLimits === 'redis' && config.redisUrl === null)
    problems.push('REDIS_URL: is required with RATE_LIMITS=redis');
  if (isUnlisted && config.sanctionsFile !== null)
    problems.push('SANCTIONS: must not be "none" if SANCTIONS_FILE is set');
  return { config, problems };
}

/**
 * Reads a command's configuration, which may lack settings that a node requires. Creates no secret, because the nodes
 * could not unseal what the command sealed with it.
 */
export function loadCommandConfig(env: Environment = process.env): Config {
  const source = openSource(env, env.CAUSEWAY_PROFILE === 'production', 'command');
  const config = readConfig(env, source);
  if (source.problems.length > 0) throw new ConfigError(source.problems);
  if (config.secrets.length === 0 && !source.isProduction)
    config.secrets = readSandboxSecret(config.dataDir) ?? [];
  return config;
}

function readConfig(env: Environment, source: Source) {
  const { read, problems, isProduction } = source;
  const names = checkNames(env);
  problems.push(...names.problems);
  return {
    profile: read('CAUSEWAY_PROFILE'),
    host: read('HOST'),
    port: read('PORT'),
    publicUrl: read('PUBLIC_URL'),
    requestTimeoutSeconds: read('REQUEST_TIMEOUT_SECONDS'),
    maxEventLoopLagMs: read('MAX_EVENT_LOOP_LAG_MS'),
    maxPoolWaitMs: read('MAX_POOL_WAIT_MS'),
    metrics: { host: read('METRICS_HOST'), port: read('METRICS_PORT') },
    dataDir: read('CAUSEWAY_DATA'),
    databaseUrl: read('DATABASE_URL'),
    databaseListenUrl: read('DATABASE_LISTEN_URL'),
    databasePool: read('DATABASE_POOL'),
    eventsRetentionDays: read('EVENTS_RETENTION_DAYS'),
    retention: {
      noticeDays: read('NOTICE_RETENTION_DAYS'),
      orderDays: read('ORDER_RETENTION_DAYS'),
      auditDays: read('AUDIT_RETENTION_DAYS'),
    },
    clock: read('CAUSEWAY_CLOCK'),
    /** Whether other machines may reach the sandbox. */
    sandboxPublic: false as boolean,
    /** The secrets for sealing and signing data, newest first. A command may have none. */
    secrets: read('CAUSEWAY_SECRET') ?? [],
    logLevel: read('LOG_LEVEL'),
    demo: read('CAUSEWAY_DEMO') === 'on',
    identity: readIdentitySettings(source),
    documents: readDocumentSettings(source),
    smtpUrl: read('SMTP_URL'),
    smtpTls: read('SMTP_TLS'),
    grantDays: read('GRANT_DAYS'),
    mailFrom: read('MAIL_FROM'),
    trustProxy: read('TRUST_PROXY'),
    webhookAllowCidrs: read('WEBHOOK_ALLOW_CIDRS'),
    webhookProxy: read('WEBHOOK_PROXY'),
    rateLimits: read('RATE_LIMITS'),
    redisUrl: read('REDIS_URL'),
    /** Requests per minute. */
    limits: readLimits(read),
    rpcUrls: readRpcUrls(read),
    /**
     * Under load, the minimum number of milliseconds between two checks for a chain's new head. Null = derived from the
     * chain's block time.
     */
    rpcFreshnessMs: isProduction ? null : 25,
    sanctionsFile: read('SANCTIONS_FILE'),
    blockedCountries: read('BLOCKED_COUNTRIES'),
    countryChangePolicy: read('COUNTRY_CHANGE_POLICY'),
    /** Keys for individual roles, each on one chain or on all EVM chains. The keys below are for the other roles. */
    roleKeys: readRoleKeys(source),
    supplierKey: readSupplierKey(source),
    operatorKey: readOperatorKey(source),
    solanaKey: readSolanaKey(source),
    /** Replaced operator keys whose transactions are still tracked. */
    retiredKeys: readRetiredKeys(source),
    venue: readVenueSettings(source),
    attestationMaxSeconds: read('ATTESTATION_MAX_SECONDS'),
    /** In wei, as the other amounts of EVM chains. */
    operatorMaxFee: BigInt(read('OPERATOR_MAX_FEE_GWEI') ?? 0) * 1_000_000_000n,
    /** Maximum fees for individual chains. They take precedence over `operatorMaxFee`. */
    operatorMaxFees: readMaxFees(read),
    operatorMaxTip: BigInt(read('OPERATOR_MAX_TIP_GWEI') ?? 0) * 1_000_000_000n,
    operatorDailyLimit: BigInt(read('OPERATOR_DAILY_LIMIT_MILLIETHER') ?? 0) * 10n ** 15n,
    solanaMaxPrice: BigInt(read('SOLANA_MAX_PRIORITY_FEE') ?? 0),
    solanaReceiptDays: read('SOLANA_RECEIPT_DAYS'),
    pendingTtlHours: read('PENDING_TTL_HOURS'),
    refundDailyLimitUsd: read('REFUND_DAILY_LIMIT_USD'),
    settlementQuorumUsd: read('SETTLEMENT_QUORUM_USD'),
    reconcileMinutes: read('RECONCILE_INTERVAL_MINUTES'),
    /** Warnings about the environment that do not prevent startup. */
    warnings: names.warnings,
  };
}

/** Reads all rate limits, in requests per minute. */
function readLimits(read: Read): Record<LimitName, number> {
  const limits = LIMIT_NAMES.map((name) => [name, read(settingName('RATE_LIMIT', name))]);
  return Object.fromEntries(limits) as Record<LimitName, number>;
}

/** Reads the RPC URLs of the chains. Leaves out chains without a URL. */
function readRpcUrls(read: Read): Partial<Record<ChainName, string[]>> {
  const urls = CHAIN_NAMES.map((chain) => [chain, read(settingName('RPC_URL', chain)) ?? []] as const);
  return Object.fromEntries(urls.filter(([, list]) => list.length > 0));
}

/** Reads the fee caps, in wei. Leaves out chains without their own cap. */
function readMaxFees(read: Read): Partial<Record<EvmChainName, bigint>> {
  const fees = EVM_CHAIN_NAMES.map(
    (chain) => [chain, read(settingName('OPERATOR_MAX_FEE_GWEI', chain))] as const,
  );
  return Object.fromEntries(
    fees.flatMap(([chain, gwei]) => (gwei === null ? [] : [[chain, BigInt(gwei) * 1_000_000_000n]])),
  );
}

function settingName<P extends string, N extends string>(prefix: P, name: N): `${P}_${Uppercase<N>}` {
  return `${prefix}_${name.toUpperCase()}` as `${P}_${Uppercase<N>}`;
}

/**
 * Returns whether other machines may reach the sandbox. Adds a problem for each setting that would expose the sandbox
 * to the internet or to real users, because the sandbox's credentials are public.
 */
function readSandboxExposure({ read, problems, isProduction }: Source): boolean {
  const isPublic = read('CAUSEWAY_SANDBOX_PUBLIC') === 'yes';
  if (isProduction) {
    if (isPublic)
      problems.push('CAUSEWAY_SANDBOX_PUBLIC: must not be set in production; it applies only to the sandbox');
    return false;
  }
  const advice =
    'set CAUSEWAY_PROFILE=production, or set CAUSEWAY_SANDBOX_PUBLIC=yes if anyone who can reach the sandbox may use it';
  if (!isPublic && !isLoopback(read('HOST')))
    problems.push(`HOST: must be a loopback address in the sandbox; ${advice}`);
  if (!isPublic && read('PUBLIC_URL')?.startsWith('https:'))
    problems.push(`PUBLIC_URL: must not use https in the sandbox; ${advice}`);
  if (read('SUMSUB_APP_TOKEN')?.startsWith('prd:'))
    problems.push(
      'SUMSUB_APP_TOKEN: must not be a production token in the sandbox; set CAUSEWAY_PROFILE=production',
    );
  return isPublic;
}

const PREFIX = 'CAUSEWAY_';
const OWN_NAMES = Object.keys(SETTINGS).filter((name) => name.startsWith(PREFIX));

/**
 * Finds environment variables that look like settings but are not. A name close to that of a `CAUSEWAY_` setting is a
 * problem: it is probably a typo, and the setting would silently keep its default. Other `CAUSEWAY_` names get only a
 * warning, because orchestrators inject variables with this prefix.
 */
function checkNames(env: Environment): { problems: string[]; warnings: string[] } {
  const problems: string[] = [];
  const warnings: string[] = [];
  for (const name of Object.keys(env)) {
    if (Object.hasOwn(SETTINGS, name)) continue;
    const intended = OWN_NAMES.find((known) => isMisspelling(name.toUpperCase(), known));
    if (intended !== undefined) problems.push(`${name}: is not a setting; did you mean ${intended}?`);
    else if (name.startsWith(PREFIX)) warnings.push(`${name} is not a setting and has no effect`);
  }
  return { problems, warnings };
}

/**
 * Returns whether `name` is probably a typo of `known`. In short names, only one character may differ: with two,
 * unrelated words would match.
 */
function isMisspelling(name: string, known: string): boolean {
  const limit = known.length - PREFIX.length <= 4 ? 1 : 2;
  return Math.abs(name.length - known.length) <= limit && editDistance(name, known) <= limit;
}

/** Counts insertions, deletions, substitutions and swaps of adjacent characters. */
function editDistance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 1; i <= a.length; i++) {
    rows[i] = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const distance = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + cost);
      rows[i]?.push(isSwap ? Math.min(distance, at(i - 2, j - 2) + 1) : distance);
    }
  }
  return at(a.length, b.length);
}

const SECRET_FILE = 'secret';

function readSandboxSecret(dataDir: string): Buffer[] | undefined {
  const file = join(dataDir, SECRET_FILE);
  return existsSync(file) ? [Buffer.from(readFileSync(file, 'utf8'), 'base64')] : undefined;
}

/** Creates the data directory. Throws `ConfigError` if the directory cannot be created or is not writable. */
export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true });
    accessSync(dataDir, constants.W_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new ConfigError([
      `CAUSEWAY_DATA: ${dataDir} is not writable (${code}); set CAUSEWAY_DATA to a writable directory`,
    ]);
  }
}

/** Returns the secret from the data directory. If there is none yet, generates a secret and stores it there. */
function createSandboxSecret(dataDir: string): Buffer {
  const [known] = readSandboxSecret(dataDir) ?? [];
  if (known !== undefined) return known;
  makeDataDir(dataDir);
  const secret = randomBytes(32);
  writeFileSync(join(dataDir, SECRET_FILE), secret.toString('base64'), { mode: 0o600, flag: 'wx' });
  return secret;
}
