import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isPrivate } from 'tiny-secp256k1';
import type { Hex } from 'viem';
import { EVM_CHAIN_NAMES, type EvmChainName } from './chain/chains.ts';
import type { OperatorKey } from './operator/key.ts';
import { isSandboxKey } from './operator/sandbox-keys.ts';
import {
  type DocumentSettings,
  type IdentitySettings,
  readDocumentSettings,
  readIdentitySettings,
  readVenueSettings,
  type VenueSettings,
} from './provider-settings.ts';

/** Requests a minute; each can be set by `RATE_LIMIT_` and its name in capitals. */
const LIMITS = {
  api: 1200,
  kyc_token: 30,
  documents: 10,
  tokenized_transaction: 30,
  wallet_ownership: 60,
  oauth_token: 120,
  introspection: 60,
  /** Sign-in attempts at one account, mails to one address, forms from one network address. */
  sign_in: 10,
  account_mail: 3,
  account_forms: 60,
} as const;

export type LimitName = keyof typeof LIMITS;

export type Config = {
  profile: 'sandbox' | 'production';
  host: string;
  port: number;
  /** The address partners use; null = where the server happens to listen. */
  publicUrl: string | null;
  metrics: { host: string; port: number };
  dataDir: string;
  /** Null = the embedded server. */
  databaseUrl: string | null;
  databasePool: number;
  clock: 'real' | 'test';
  /** Newest first. */
  secrets: Buffer[];
  logLevel: string;
  /** Whether the sandbox starts a partner's app beside it. */
  demo: boolean;
  /** Null = the sandbox's own provider. */
  identity: IdentitySettings | null;
  documents: DocumentSettings | null;
  /** Null = the sandbox's own mailbox. */
  smtpUrl: string | null;
  mailFrom: string;
  trustProxy: boolean;
  rateLimits: 'memory' | 'postgres';
  limits: Record<LimitName, number>;
  /** `RPC_URL_` and the chain's name in capitals; several with commas between, first choice first. */
  rpcUrls: Partial<Record<EvmChainName, string[]>>;
  /** Milliseconds that many readers may share what is known of a chain's head; null = by its block time. */
  rpcFreshness: number | null;
  /** A file with one address a line that must not be used; null = there is no such list. */
  sanctionsFile: string | null;
  /** The key that signs permissions for allow-lists; null = no wallet can be let in. */
  supplierKey: Hex | null;
  /** The key that commits and refunds on the sale funds; null = nothing is settled by this process. */
  operatorKey: OperatorKey | null;
  /** The pricing venue; null = no tokenized swaps are served. */
  venue: VenueSettings | null;
  /** Wei per unit of gas that the operator never exceeds. */
  operatorMaxFee: bigint;
};

export type Environment = Record<string, string | undefined>;

/** Everything wrong with the configuration at once, each line naming its variable. */
export class ConfigError extends Error {
  constructor(problems: string[]) {
    super(`The configuration is wrong:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

export function loadConfig(env: Environment): Config {
  const problems: string[] = [];
  const read = reader(env, problems);
  const profile = read.oneOf('CAUSEWAY_PROFILE', ['sandbox', 'production'] as const, 'sandbox');
  const isProduction = profile === 'production';
  const dataDir = resolve(read.text('CAUSEWAY_DATA', '.causeway'));
  const limits = Object.fromEntries(
    Object.entries(LIMITS).map(([name, value]) => [
      name,
      read.integer(`RATE_LIMIT_${name.toUpperCase()}`, 1, 1_000_000, value),
    ]),
  ) as Config['limits'];
  const config: Config = {
    profile,
    host: read.text('HOST', '127.0.0.1'),
    port: read.integer('PORT', 0, 65535, 8080),
    publicUrl: read.url('PUBLIC_URL', ['https:', ...(isProduction ? [] : ['http:'])], isProduction),
    metrics: {
      host: read.text('METRICS_HOST', '127.0.0.1'),
      port: read.integer('METRICS_PORT', 0, 65535, isProduction ? 9464 : 0),
    },
    dataDir,
    databaseUrl: read.url('DATABASE_URL', ['postgres:', 'postgresql:'], isProduction),
    databasePool: read.integer('DATABASE_POOL', 2, 500, 10),
    clock: read.oneOf('CAUSEWAY_CLOCK', ['real', 'test'] as const, 'real'),
    secrets: readSecrets(env.CAUSEWAY_SECRET, isProduction, dataDir, problems),
    logLevel: read.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    demo: read.oneOf('CAUSEWAY_DEMO', ['on', 'off'] as const, isProduction ? 'off' : 'on') === 'on',
    identity: readIdentitySettings({ read, problems, isProduction }),
    documents: readDocumentSettings({ read, problems, isProduction }),
    smtpUrl: read.url('SMTP_URL', ['smtp:', 'smtps:'], isProduction),
    mailFrom: read.address('MAIL_FROM', isProduction ? null : 'Causeway <causeway@sandbox.test>'),
    trustProxy: read.oneOf('TRUST_PROXY', ['true', 'false'] as const, 'false') === 'true',
    rateLimits: read.oneOf('RATE_LIMITS', ['memory', 'postgres'] as const, 'memory'),
    limits,
    rpcUrls: readRpcUrls(read),
    rpcFreshness: isProduction ? null : 25,
    sanctionsFile: read.path('SANCTIONS_FILE'),
    supplierKey: read.key('SUPPLIER_KEY', isProduction),
    operatorKey: readOperatorKey(env, read, isProduction, problems),
    venue: readVenueSettings({ read, problems, isProduction }),
    operatorMaxFee: BigInt(read.integer('OPERATOR_MAX_FEE_GWEI', 1, 1_000_000, 500)) * 1_000_000_000n,
  };
  if (isProduction && config.clock === 'test')
    problems.push('CAUSEWAY_CLOCK: the test clock is a part of the sandbox; leave it out in production');
  if (isProduction && config.demo)
    problems.push('CAUSEWAY_DEMO: the demo app is a part of the sandbox; leave it out in production');
  if (problems.length > 0) throw new ConfigError(problems);
  return config;
}

function reader(env: Environment, problems: string[]) {
  const value = (name: string) => (env[name] === '' ? undefined : env[name]);
  return {
    text: (name: string, fallback: string) => value(name) ?? fallback,
    oneOf: <const T extends string>(name: string, allowed: readonly T[], fallback: T): T => {
      const text = value(name);
      if (text === undefined) return fallback;
      const found = allowed.find((one) => one === text);
      if (found === undefined) problems.push(`${name}: must be one of ${allowed.join(', ')}`);
      return found ?? fallback;
    },
    integer: (name: string, min: number, max: number, fallback: number): number => {
      const text = value(name);
      if (text === undefined) return fallback;
      const number = Number(text);
      if (/^\d{1,9}$/.test(text) && number >= min && number <= max) return number;
      problems.push(`${name}: must be a whole number from ${min} to ${max}`);
      return fallback;
    },
    /** `null` for the fallback makes it required. */
    address: (name: string, fallback: string | null): string => {
      const text = value(name) ?? fallback;
      if (text !== null && /^([^<>\r\n]+ <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(text)) return text;
      problems.push(`${name}: must be an e-mail address, such as Causeway <no-reply@example.com>`);
      return '';
    },
    path: (name: string): string | null => {
      const text = value(name);
      return text === undefined ? null : resolve(text);
    },
    key: (name: string, isProduction: boolean): Hex | null => {
      const text = value(name);
      if (text === undefined) return null;
      const isKey = /^0x[0-9a-fA-F]{64}$/.test(text) && isPrivate(Buffer.from(text.slice(2), 'hex'));
      if (!isKey) problems.push(`${name}: must be a private key: 0x and 64 hexadecimal digits`);
      if (isProduction && isSandboxKey(text))
        problems.push(`${name}: is a key of the sandbox, which everybody knows`);
      return isKey ? (text as Hex) : null;
    },
    urls: (name: string): string[] => {
      const urls = (value(name) ?? '')
        .split(',')
        .map((url) => url.trim())
        .filter((url) => url !== '');
      const wrong = urls.some((url) => !URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol));
      if (wrong)
        problems.push(`${name}: must be URLs that begin with https:// or http://, with commas between`);
      return urls;
    },
    url: (name: string, protocols: string[], isRequired: boolean): string | null => {
      const text = value(name);
      const expected = `a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`;
      if (text === undefined && isRequired) problems.push(`${name}: is required in production: ${expected}`);
      if (text === undefined) return null;
      if (URL.canParse(text) && protocols.includes(new URL(text).protocol)) return text.replace(/\/$/, '');
      problems.push(`${name}: must be ${expected}`);
      return null;
    },
  };
}

/** One of `OPERATOR_KEY`, `OPERATOR_KEY_FILE` and `OPERATOR_KMS_KEY`. */
function readOperatorKey(
  env: Environment,
  read: ReturnType<typeof reader>,
  isProduction: boolean,
  problems: string[],
): OperatorKey | null {
  const given = ['OPERATOR_KEY', 'OPERATOR_KEY_FILE', 'OPERATOR_KMS_KEY'].filter((name) => env[name]);
  if (given.length > 1) problems.push(`${given.join(', ')}: only one of them can be set`);
  const file = read.path('OPERATOR_KEY_FILE');
  if (file !== null) {
    if (!existsSync(file)) problems.push(`OPERATOR_KEY_FILE: there is no file ${file}`);
    else return localKey(readFileSync(file, 'utf8').trim(), 'OPERATOR_KEY_FILE', isProduction, problems);
  }
  if (env.OPERATOR_KMS_KEY) return readKmsKey(env, read, env.OPERATOR_KMS_KEY, problems);
  return env.OPERATOR_KEY ? localKey(env.OPERATOR_KEY, 'OPERATOR_KEY', isProduction, problems) : null;
}

function localKey(text: string, name: string, isProduction: boolean, problems: string[]): OperatorKey | null {
  const key = reader({ [name]: text }, problems).key(name, isProduction);
  return key === null ? null : { kind: 'local', privateKey: Buffer.from(key.slice(2), 'hex') };
}

function readKmsKey(
  env: Environment,
  read: ReturnType<typeof reader>,
  keyId: string,
  problems: string[],
): OperatorKey {
  for (const name of ['AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])
    if (!env[name]) problems.push(`${name}: is required with OPERATOR_KMS_KEY`);
  const credentials = {
    accessKeyId: env.AWS_ACCESS_KEY_ID ?? '',
    secretAccessKey: env.AWS_SECRET_ACCESS_KEY ?? '',
    sessionToken: env.AWS_SESSION_TOKEN || null,
  };
  const endpoint = read.url('OPERATOR_KMS_ENDPOINT', ['https:', 'http:'], false);
  return { kind: 'kms', key: { keyId, region: env.AWS_REGION ?? '', endpoint, credentials } };
}

function readRpcUrls(read: ReturnType<typeof reader>): Config['rpcUrls'] {
  const named = EVM_CHAIN_NAMES.map((chain) => [chain, read.urls(`RPC_URL_${chain.toUpperCase()}`)] as const);
  return Object.fromEntries(named.filter(([, urls]) => urls.length > 0));
}

/** The secret that everything sealed depends on. The sandbox makes one beside its data. */
function readSecrets(
  text: string | undefined,
  isProduction: boolean,
  dataDir: string,
  problems: string[],
): Buffer[] {
  if (text !== undefined && text !== '') {
    const secrets = text.split(',').map((part) => Buffer.from(part.trim(), 'base64'));
    if (secrets.some((secret) => secret.length < 32)) {
      problems.push(
        'CAUSEWAY_SECRET: must be at least 32 random bytes in base64 (openssl rand -base64 32); several, newest first, with commas between',
      );
    }
    return secrets;
  }
  if (isProduction) {
    problems.push(
      'CAUSEWAY_SECRET: is required in production: 32 random bytes in base64 (openssl rand -base64 32)',
    );
    return [];
  }
  const file = join(dataDir, 'secret');
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true });
    writeFileSync(file, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' });
  }
  return [Buffer.from(readFileSync(file, 'utf8'), 'base64')];
}
