import { randomBytes } from 'node:crypto';
import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChainName, EvmChainName } from '../chains.ts';
import { checkNames } from './names.ts';
import type { OperatorKey, RetiredKey, RoleKey } from './operator-key.ts';
import { readOperatorKey, readRetiredKeys, readSolanaKey, readSupplierKey } from './operator-settings.ts';
import type { Area } from './parsers.ts';
import {
  type DocumentSettings,
  type IdentitySettings,
  readDocumentSettings,
  readIdentitySettings,
  readVenueSettings,
  type VenueSettings,
} from './provider-settings.ts';
import type { LimitName } from './rate-limits.ts';
import { type Environment, openSource, type Source } from './read.ts';
import { readLimits, readMaxFees, readRpcUrls } from './repeated-settings.ts';
import { readRoleKeys } from './role-keys.ts';
import { readSandboxExposure } from './sandbox-settings.ts';

export type { LimitName };

/** The settings of one process; `kernel/config/settings.ts` describes the variables that hold these settings. */
export type Config = {
  profile: 'sandbox' | 'production';
  host: string;
  port: number;
  /** The URL at which clients reach the service. Null = the listening address. */
  publicUrl: string | null;
  /** How long a client may take to send a request or to read a reply. */
  requestTimeoutSeconds: number;
  /** How many requests one partner can have in progress on a node. */
  partnerConcurrency: number;
  /** The mean event loop delay above which requests are refused. */
  maxEventLoopLagMs: number;
  /** The expected wait for a database connection above which requests are refused. */
  maxPoolWaitMs: number;
  metrics: { host: string; port: number };
  dataDir: string;
  /** The PostgreSQL database. Null = the embedded PostgreSQL. */
  databaseUrl: string | null;
  /** The database URL for LISTEN and session locks, which need a connection without a pooler. Null = `databaseUrl`. */
  databaseListenUrl: string | null;
  databasePool: number;
  eventsRetentionDays: number;
  /** How many days to keep handled notices (mails to users), tokenized orders without a trade, and the audit log. */
  retention: { noticeDays: number; orderDays: number; auditDays: number };
  clock: 'real' | 'test';
  /** Whether other machines may reach the sandbox. */
  sandboxPublic: boolean;
  /** The secrets for sealing and signing data, newest first. A command may have none. */
  secrets: Buffer[];
  logLevel: string;
  /** Whether the sandbox also starts the demo app. */
  demo: boolean;
  /** How to reach the identity provider. Null = the sandbox provider. */
  identity: IdentitySettings | null;
  documents: DocumentSettings | null;
  /** The server that sends mail. Null = the sandbox mailbox. */
  smtpUrl: string | null;
  smtpTls: 'required' | 'optional';
  /** The absolute lifetime of a user's consent to a partner app. */
  grantDays: number;
  mailFrom: string;
  /** The URL of the page that shows the sandbox's mail. Only the sandbox sets this URL. */
  mailboxUrl?: string;
  /** Networks of the proxies whose `X-Forwarded-For` is trusted. */
  trustProxy: string[];
  /** Private networks that webhooks may be sent to. Null = loopback in the sandbox, none in production. */
  webhookAllowCidrs: string[] | null;
  /** The URL of the proxy that webhooks pass through. Null = none. */
  webhookProxy: string | null;
  /** The command line as the audit log records it, with `…` in place of each argument that may be private. */
  commandName?: string;
  rateLimits: 'memory' | 'postgres' | 'redis';
  redisUrl: string | null;
  /** Requests per minute. */
  limits: Record<LimitName, number>;
  /** In order of preference. */
  rpcUrls: Partial<Record<ChainName, string[]>>;
  /**
   * Under load, the minimum number of milliseconds between two checks for a chain's new head. Null = derived from the
   * chain's block time.
   */
  rpcFreshnessMs: number | null;
  /** Null = no sanctions list. */
  sanctionsFile: string | null;
  /** No offer accepts residents of these countries and regions. */
  blockedCountries: Area[];
  /**
   * What to do if a user moves from a rejected to an accepted country. `flag` logs the change and lists it for
   * operators. `review` also blocks the user until an operator approves the change.
   */
  countryChangePolicy: 'flag' | 'review';
  /** The key of the `supplier` role on chains for which `roleKeys` has no `supplier` key. Null = none. */
  supplierKey: OperatorKey | null;
  /**
   * The default key of EVM roles without a key in `roleKeys`, except `supplier`. Null = this process does not act in
   * these roles.
   */
  operatorKey: OperatorKey | null;
  /** The default key of Solana roles without a key in `roleKeys`. Null = this process does not act in these roles. */
  solanaKey: OperatorKey | null;
  /** Keys for individual roles, each on one chain or on all EVM chains. */
  roleKeys: RoleKey[];
  /** Replaced operator keys whose transactions are still tracked. */
  retiredKeys: RetiredKey[];
  /** How to reach the venue that prices tokenized assets. Null = tokenized swaps are unavailable. */
  venue: VenueSettings | null;
  /** The maximum validity of an attestation (the venue's signed quote). Longer-lived attestations are refused. */
  attestationMaxSeconds: number;
  /** Maximum fee per unit of gas, in wei. */
  operatorMaxFee: bigint;
  /** Maximum fees for individual chains. They take precedence over `operatorMaxFee`. */
  operatorMaxFees: Partial<Record<EvmChainName, bigint>>;
  /** Maximum tip per unit of gas, in wei. */
  operatorMaxTip: bigint;
  /** Maximum wei spent on gas per chain in 24 hours. */
  operatorDailyLimit: bigint;
  /** Maximum price per compute unit on Solana, in millionths of a lamport. */
  solanaMaxPrice: bigint;
  /** How long `causeway solana close` keeps receipts, the accounts that prove commits and refunds on Solana. */
  solanaReceiptDays: number;
  /** How long a participation may wait for its commit transaction. */
  pendingTtlHours: number;
  /**
   * The amount that one operator may refund in 24 hours without a second operator's confirmation; null = no
   * limit.
   */
  refundDailyLimitUsd: number | null;
  /**
   * For participations above this amount, two RPC providers must agree on the outcome. Ignored on chains with one
   * provider.
   */
  settlementQuorumUsd: number;
  reconcileMinutes: number;
  /** Warnings about the environment that do not prevent startup. */
  warnings: string[];
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

function readConfig(env: Environment, source: Source): Config {
  const { read, problems, isProduction } = source;
  const names = checkNames(env);
  problems.push(...names.problems);
  return {
    profile: read('CAUSEWAY_PROFILE'),
    host: read('HOST'),
    port: read('PORT'),
    publicUrl: read('PUBLIC_URL'),
    requestTimeoutSeconds: read('REQUEST_TIMEOUT_SECONDS'),
    partnerConcurrency: read('PARTNER_CONCURRENCY'),
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
    sandboxPublic: false,
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
    limits: readLimits(read),
    rpcUrls: readRpcUrls(read),
    rpcFreshnessMs: isProduction ? null : 25,
    sanctionsFile: read('SANCTIONS_FILE'),
    blockedCountries: read('BLOCKED_COUNTRIES'),
    countryChangePolicy: read('COUNTRY_CHANGE_POLICY'),
    supplierKey: readSupplierKey(source),
    roleKeys: readRoleKeys(source),
    operatorKey: readOperatorKey(source),
    solanaKey: readSolanaKey(source),
    retiredKeys: readRetiredKeys(source),
    venue: readVenueSettings(source),
    attestationMaxSeconds: read('ATTESTATION_MAX_SECONDS'),
    operatorMaxFees: readMaxFees(read),
    operatorMaxTip: BigInt(read('OPERATOR_MAX_TIP_GWEI') ?? 0) * 1_000_000_000n,
    operatorDailyLimit: BigInt(read('OPERATOR_DAILY_LIMIT_MILLIETHER') ?? 0) * 10n ** 15n,
    solanaMaxPrice: BigInt(read('SOLANA_MAX_PRIORITY_FEE') ?? 0),
    solanaReceiptDays: read('SOLANA_RECEIPT_DAYS'),
    pendingTtlHours: read('PENDING_TTL_HOURS'),
    refundDailyLimitUsd: read('REFUND_DAILY_LIMIT_USD'),
    settlementQuorumUsd: read('SETTLEMENT_QUORUM_USD'),
    reconcileMinutes: read('RECONCILE_INTERVAL_MINUTES'),
    operatorMaxFee: BigInt(read('OPERATOR_MAX_FEE_GWEI') ?? 0) * 1_000_000_000n,
    warnings: names.warnings,
  };
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
