import { CHAIN_NAMES, type ChainName, EVM_CHAIN_NAMES } from '../chains.ts';
import * as parsers from './parsers.ts';
import { integer, oneOf, type Parser, url } from './parsers.ts';
import { LIMITS, type LimitName } from './rate-limits.ts';

/**
 * The definition of one environment variable. The service parses the variable with this definition, and
 * `docs/configuration.md` is generated from all definitions.
 */
export type Setting<T = unknown> = Parser<T> & {
  /** What the setting does, in one or two sentences of Markdown. */
  description: string;
  /** The default per profile, as text, used if the variable is unset or empty. */
  sandbox?: string;
  production?: string;
  /** Shown in the documentation in place of a default that is not a fixed value. */
  defaultNote?: string;
  /**
   * `true` if production does not start without the setting. A string states the condition under which the setting is
   * required.
   */
  required?: true | string;
};

type Options = Omit<Setting, 'expects' | 'parse' | 'description'> & { default?: string };

/** Defines a setting. `default` sets the default for both profiles. */
function setting<T, const O extends Options>(parser: Parser<T>, description: string, options: O) {
  const { default: both, ...rest } = options;
  const defaults = both === undefined ? {} : { sandbox: both, production: both };
  const hasDefault = both !== undefined || rest.sandbox !== undefined;
  return { ...parser, description, ...defaults, ...rest, hasDefault } as unknown as Setting<T> & {
    hasDefault: O extends { default: string } | { sandbox: string } ? true : false;
  };
}

const SERVICE = {
  CAUSEWAY_PROFILE: setting(
    oneOf('sandbox', 'production'),
    '`sandbox` runs everything on this machine with simulated providers; `production` allows no sandbox features.',
    { default: 'sandbox' },
  ),
  HOST: setting(parsers.host, 'The address that the API listens on.', { default: '127.0.0.1' }),
  PORT: setting(integer(0, 65535), 'The port that the API listens on. `0` picks a free one.', {
    default: '8080',
  }),
  PUBLIC_URL: setting(
    url(['https:'], ['http:']),
    'The base URL at which partners and users reach the service.',
    { required: true, defaultNote: 'the listening address' },
  ),
  TRUST_PROXY: setting(
    parsers.proxies,
    'The networks of the reverse proxies whose `X-Forwarded-For` is trusted, comma-separated: CIDRs, addresses, `loopback` or `private`.',
    { default: 'none' },
  ),
  REQUEST_TIMEOUT_SECONDS: setting(
    integer(1, 600),
    'How many seconds a client may take to send a request. The service closes connections that take longer, and those on which nothing moves for 30 seconds more.',
    { default: '30' },
  ),
  MAX_EVENT_LOOP_LAG_MS: setting(
    integer(10, 60_000),
    'How long a request may wait for the node, in milliseconds. A node that is too busy answers 503 `unavailable` instead of letting requests wait longer.',
    { sandbox: '5000', production: '200' },
  ),
  MAX_POOL_WAIT_MS: setting(
    integer(100, 60_000),
    'The expected wait for a database connection, in milliseconds, above which a node answers 503 `unavailable` instead of queueing the request. Partners and networks wait separately, so a partner that floods a node is refused first.',
    { sandbox: '20000', production: '1000' },
  ),
  METRICS_HOST: setting(parsers.host, 'The address that the Prometheus metrics server listens on.', {
    default: '127.0.0.1',
  }),
  METRICS_PORT: setting(
    integer(0, 65535),
    'The port that the Prometheus metrics server listens on. `0` picks a free one.',
    {
      sandbox: '0',
      production: '9464',
    },
  ),
  LOG_LEVEL: setting(
    oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
    'The least severe level to log: `fatal`, `error`, `warn`, `info`, `debug`, `trace`, or `silent` for none.',
    { default: 'info' },
  ),
  CAUSEWAY_SECRET: setting(
    parsers.secrets,
    'The secret that encrypts stored data: 32 random bytes in base64 (`openssl rand -base64 32`). To rotate it, append the new secret after a comma and restart every node. Then put the new secret first and restart every node again. Finally, run `causeway keys rotate`, and remove the old secret a day later.',
    { required: true, defaultNote: 'generated in the data directory' },
  ),
};

const DATABASE = {
  DATABASE_URL: setting(
    parsers.databaseUrl,
    'The URL of the PostgreSQL database. If it lists several hosts, as in `postgres://user@one:5432,two:5432/causeway`, the service uses the primary. Any number of nodes can share a database; each node applies pending migrations under a lock when it starts.',
    { required: true, defaultNote: 'an embedded PostgreSQL' },
  ),
  DATABASE_LISTEN_URL: setting(
    parsers.databaseUrl,
    'A direct URL of the same database. Set it if `DATABASE_URL` leads through a pooler in transaction mode. Notifications, session locks and migrations use it.',
    { defaultNote: '`DATABASE_URL`' },
  ),
  DATABASE_POOL: setting(integer(2, 500), 'Connections per node.', { default: '10' }),
  EVENTS_RETENTION_DAYS: setting(integer(30, 3650), 'How many days events are kept.', { default: '90' }),
  NOTICE_RETENTION_DAYS: setting(
    integer(30, 3650),
    'How many days the service remembers which mail it has sent to a user, so that it sends nothing twice.',
    { default: '365' },
  ),
  ORDER_RETENTION_DAYS: setting(
    integer(7, 3650),
    'How many days tokenized orders without a trade are kept. Orders with a trade are business records and are not deleted.',
    { default: '90' },
  ),
  AUDIT_RETENTION_DAYS: setting(
    integer(365, 36_500),
    'How many days the audit log and the record of who read personal data are kept. When old entries are deleted, a signed record of where the log now starts takes their place, and `causeway audit verify` continues from there.',
    { default: '3650' },
  ),
};

const SANDBOX = {
  CAUSEWAY_DATA: setting(
    parsers.path,
    'The directory for the embedded database, the sandbox state and the generated secret.',
    { default: '.causeway' },
  ),
  CAUSEWAY_SANDBOX_PUBLIC: setting(
    oneOf('yes'),
    '`yes` opens the sandbox to other machines, for example in a container: it may then listen on a non-loopback host, have an `https` public URL and answer `/sandbox` through proxies. Anyone who can reach it can sign in as anyone. Not allowed in production.',
    {},
  ),
  CAUSEWAY_CLOCK: setting(
    oneOf('real', 'test'),
    '`test` starts with a stopped clock that only `POST /sandbox/clock` moves. Not allowed in production.',
    { default: 'real' },
  ),
  CAUSEWAY_DEMO: setting(
    oneOf('on', 'off'),
    'Whether the sandbox also starts the demo app, on port 3000 or the next free one. Not allowed in production.',
    { sandbox: 'on', production: 'off' },
  ),
};

const MAIL = {
  SMTP_URL: setting(
    url(['smtp:', 'smtps:']),
    'The mail server, with credentials in the URL: `smtps://user:password@mail.example.com`.',
    { required: true, defaultNote: 'the sandbox mailbox' },
  ),
  SMTP_TLS: setting(
    oneOf('required', 'optional'),
    '`required` sends mail only over TLS; `optional` also accepts a server without TLS, such as a relay on this machine.',
    { sandbox: 'optional', production: 'required' },
  ),
  GRANT_DAYS: setting(integer(1, 3650), 'How many days a user stays connected to an app.', {
    default: '180',
  }),
  MAIL_FROM: setting(parsers.mailAddress, 'The sender of all mail.', {
    sandbox: 'Causeway <causeway@sandbox.test>',
    required: true,
  }),
};

const KEYS = {
  OPERATOR_KEY: setting(
    parsers.privateKey,
    'The private key that commits and refunds participations in sale funds. Set at most one of `OPERATOR_KEY`, `OPERATOR_KEY_FILE` and `OPERATOR_KMS_KEY`; without any of them, this process settles nothing.',
    { defaultNote: 'a sandbox key', required: 'tokenized swaps are offered' },
  ),
  OPERATOR_KEY_FILE: setting(parsers.path, 'A file that contains the operator key.', {}),
  OPERATOR_KMS_KEY: setting(
    parsers.kmsKeyId,
    'The id, alias or ARN of an AWS KMS key (`ECC_SECG_P256K1`, `SIGN_VERIFY`) to use as the operator key.',
    {},
  ),
  OPERATOR_KEYS_FILE: setting(
    parsers.path,
    'A JSON file that gives roles separate keys, on all EVM chains, on one EVM chain or on a Solana cluster: `{"refund": {"kms": "alias/refund"}, "base_mainnet": {"commit": {"file": "/run/secrets/commit"}}, "solana_mainnet": {"refund": {"kms": "alias/solana-refund"}}}`. Roles: `commit` (also revokes wallets on allow-lists), `refund`, `quote` (tokenized swaps), `supplier`. A role without a key uses the operator key, except `supplier`, which uses `SUPPLIER_KEY`. On Solana, only `commit` and `refund` exist, and their keys are Ed25519 keys. `{"address": "0x…"}` in place of a `commit` or `refund` key means that only other nodes have the key. Each key signs only for its own roles.',
    { defaultNote: 'the operator key has every role' },
  ),
  OPERATOR_KMS_ENDPOINT: setting(
    url(['https:', 'http:']),
    "A KMS endpoint to use instead of the region's default.",
    { defaultNote: "the region's endpoint" },
  ),
  AWS_REGION: setting(parsers.text, 'The region of the KMS key.', { required: 'a key is in KMS' }),
  AWS_ACCESS_KEY_ID: setting(parsers.text, 'The AWS access key.', { required: 'a key is in KMS' }),
  AWS_SECRET_ACCESS_KEY: setting(parsers.text, 'The AWS secret.', { required: 'a key is in KMS' }),
  AWS_SESSION_TOKEN: setting(parsers.text, 'The session token for temporary AWS credentials.', {}),
  OPERATOR_RETIRED_KEYS: setting(
    parsers.list,
    'Replaced operator keys, comma-separated: private keys or KMS key ids. If a key had only one role, put `commit=` or `refund=` in front of it. The service tracks the transactions of these keys until the last one is final, and sends nothing new from these keys. It refuses to start while a replaced key that is not listed has transactions that are not final.',
    {},
  ),
  OPERATOR_POLICY_FILE: setting(
    parsers.path,
    'A JSON file that lists what the keys may sign on each chain: `{"ethereum_mainnet": {"contracts": ["0x…"], "daily_fee": "2000000000000000000", "daily_amounts": {"0x…": "1000000000"}}}`. `contracts` lists the funds, allow-lists and swaps, or on Solana the funds and vaults. `daily_fee` (wei or lamports) and `daily_amounts` (smallest units per token) limit what each role signs in 24 hours. If `daily_amounts` is set, tokens that it does not list cannot be moved. `roles` overrides any of these values for `commit`, `refund`, `quote` or `supplier`. For `supplier`, `daily_permissions` also limits how many wallets it permits in 24 hours. Only `contracts` is required, and a bare list of contracts works too. The signer refuses everything that the file does not allow, including everything on chains that it does not list, so that a tampered database cannot redirect money. Keep the file where the database cannot change it. With or without this file, the signer refuses to send native currency or to call functions other than commits, refunds and revocations.',
    { defaultNote: 'any contract' },
  ),
  OPERATOR_SPEND_DIR: setting(
    parsers.path,
    'A directory in which the signers count what they sign against the limits of `OPERATOR_POLICY_FILE`, so that neither a restart nor a tampered database resets the counts. Nodes that share the directory share the limits; otherwise each node has its own. The directory must not be on NFS.',
    { defaultNote: 'in memory' },
  ),
  SOLANA_OPERATOR_KEY: setting(
    parsers.solanaKey,
    'The Ed25519 key that commits and refunds participations on Solana, except for roles with a key in `OPERATOR_KEYS_FILE`. Format: base58, or the JSON array of a keypair file. Set at most one of `SOLANA_OPERATOR_KEY`, `SOLANA_OPERATOR_KEY_FILE` and `SOLANA_OPERATOR_KMS_KEY`; without any of them, this process settles nothing on Solana.',
    { defaultNote: 'a sandbox key' },
  ),
  SOLANA_OPERATOR_KEY_FILE: setting(parsers.path, 'A file that contains the Solana operator key.', {}),
  SOLANA_OPERATOR_KMS_KEY: setting(
    parsers.kmsKeyId,
    'The id, alias or ARN of an AWS KMS key (`ECC_NIST_EDWARDS25519`, `SIGN_VERIFY`) to use as the Solana operator key.',
    {},
  ),
  SUPPLIER_KEY: setting(
    parsers.privateKey,
    'The private key that allow-list contracts accept as their supplier. Without it, no wallet can be added to an allow-list.',
    { defaultNote: 'a sandbox key' },
  ),
  SANCTIONS_FILE: setting(
    parsers.path,
    'A file with one blocked wallet address per line. It is reloaded when it changes and on SIGHUP. If the file is empty or has lost more than a fifth of its addresses, it is refused and the previous list stays in use. `causeway sanctions accept` accepts a file that has lost addresses, but never an empty one.',
    { required: '`SANCTIONS` is not `none`' },
  ),
  SANCTIONS: setting(oneOf('none'), '`none` runs production without a sanctions list.', {}),
};

const chains = CHAIN_NAMES.map((chain) => {
  const description = `RPC URLs of \`${chain}\`, comma-separated, in order of preference. Configure at least two providers in production. Without a URL, the chain is not supported, and a node refuses to start while its operator key has open transactions there.`;
  const options = /sepolia|devnet/.test(chain) ? { defaultNote: 'an embedded chain' } : {};
  return [`RPC_URL_${chain.toUpperCase()}`, setting(parsers.urlList, description, options)] as const;
});

const CHAINS = Object.fromEntries(chains) as Record<
  `RPC_URL_${Uppercase<ChainName>}`,
  (typeof chains)[number][1]
>;

const feeCaps = EVM_CHAIN_NAMES.map((chain) => {
  const description = `Replaces \`OPERATOR_MAX_FEE_GWEI\` on \`${chain}\`.`;
  return [
    `OPERATOR_MAX_FEE_GWEI_${chain.toUpperCase()}`,
    setting(integer(1, 1_000_000), description, {}),
  ] as const;
});

const FEE_CAPS = Object.fromEntries(feeCaps) as Record<
  `OPERATOR_MAX_FEE_GWEI_${Uppercase<(typeof EVM_CHAIN_NAMES)[number]>}`,
  (typeof feeCaps)[number][1]
>;

const SETTLEMENT = {
  OPERATOR_MAX_FEE_GWEI: setting(
    integer(1, 1_000_000),
    'The maximum fee per unit of gas that the operator pays, in gwei.',
    { default: '500' },
  ),
  OPERATOR_MAX_TIP_GWEI: setting(
    integer(0, 1_000_000),
    'The maximum tip per unit of gas that the operator pays to block producers, in gwei.',
    { default: '10' },
  ),
  OPERATOR_DAILY_LIMIT_MILLIETHER: setting(
    integer(1, 999_999_999),
    'The maximum that the operator spends on gas per chain in 24 hours, in thousandths of an ether. At the limit, settlement pauses and raises the alert `daily_limit`.',
    { default: '20000' },
  ),
  SOLANA_MAX_PRIORITY_FEE: setting(
    integer(0, 999_999_999),
    'The maximum price per compute unit that the operator pays on Solana, in millionths of a lamport. A commit uses about 2,000 units, a refund 20,000. While the market price is higher, the operator pays this maximum, which may delay settlement, and raises the alert `fee_cap`.',
    { default: '1000000' },
  ),
  SOLANA_RECEIPT_DAYS: setting(
    integer(7, 3_650),
    'How many days `causeway solana close` keeps the receipts of settled participations. Must exceed the age of every backup that could be restored: without its receipt, a restored participation would be settled again.',
    { default: '30' },
  ),
  PENDING_TTL_HOURS: setting(
    integer(1, 8_760),
    'How many hours a participation may wait for its commit. After that it fails, because the user may no longer want it.',
    { default: '24' },
  ),
  REFUND_DAILY_LIMIT_USD: setting(
    integer(0, 999_999_999),
    "How much one person, identified by the OS user who runs the command, may refund in 24 hours, in US dollars. Above that, `participation remit` and `offer refund` store a request that another OS user must confirm with `causeway participation confirm`. Set the limit on the nodes: commands apply the lowest limit that nodes had in the last 24 hours, so a command's own environment can only lower it.",
    { defaultNote: 'no limit' },
  ),
  SETTLEMENT_QUORUM_USD: setting(
    integer(0, 999_999_999),
    'Participations above this amount, in US dollars, end only when two RPC providers agree on the outcome. URLs whose hosts end in the same two labels, such as `example.com`, count as one provider unless they name different providers: `https://node.example/#provider=NAME`. Has no effect on chains with a single provider.',
    { default: '1000' },
  ),
  RECONCILE_INTERVAL_MINUTES: setting(
    integer(1, 1_440),
    'How often, in minutes, the service compares the funds on every chain with the database. A difference pauses the affected offer and raises the alert `unreconciled`.',
    { default: '15' },
  ),
  ...FEE_CAPS,
};

const COMPLIANCE = {
  BLOCKED_COUNTRIES: setting(
    parsers.areas,
    'Countries and regions whose residents are excluded from every offer, comma-separated: ISO 3166-1 codes (`KP`) and ISO 3166-2 codes (`UA-43`). `none` blocks nobody.',
    { default: 'CU,IR,KP,UA-43,UA-40,UA-14,UA-09' },
  ),
  COUNTRY_CHANGE_POLICY: setting(
    oneOf('flag', 'review'),
    'What happens when a user moves from a rejected to an accepted country: `flag` logs a warning and lists the change (`causeway user country-changes`); `review` also blocks the user until an operator runs `causeway user approve-country`.',
    { default: 'flag' },
  ),
};

const PROVIDERS = {
  SUMSUB_URL: setting(parsers.providerUrl, 'The Sumsub API. Its webhooks go to `/webhooks/identity`.', {
    default: 'https://api.sumsub.com',
  }),
  SUMSUB_APP_TOKEN: setting(parsers.text, 'The Sumsub app token. In production, it must start with `prd:`.', {
    required: true,
    defaultNote: 'the sandbox provider',
  }),
  SUMSUB_SECRET: setting(parsers.text, 'The secret of the app token.', { required: true }),
  SUMSUB_WEBHOOK_SECRET: setting(
    parsers.list,
    'The secrets that Sumsub signs webhooks with, comma-separated. During a rotation, list both the old and the new secret.',
    { required: true },
  ),
  DOCUSEAL_URL: setting(parsers.providerUrl, 'The DocuSeal API. Its webhooks go to `/webhooks/documents`.', {
    required: true,
    defaultNote: 'the sandbox provider',
  }),
  DOCUSEAL_API_KEY: setting(parsers.text, 'The DocuSeal API key.', { required: true }),
  DOCUSEAL_TEMPLATE_W8_BEN: setting(integer(1, 999_999_999), 'The id of the W-8BEN template.', {
    required: true,
  }),
  DOCUSEAL_TEMPLATE_W8_BEN_E: setting(integer(1, 999_999_999), 'The id of the W-8BEN-E template.', {
    required: true,
  }),
  DOCUSEAL_WEBHOOK_SECRET: setting(
    parsers.list,
    'The secrets that DocuSeal signs webhooks with, comma-separated.',
    { required: '`DOCUSEAL_WEBHOOK_HEADER` is not set' },
  ),
  DOCUSEAL_WEBHOOK_HEADER: setting(
    parsers.header,
    'A header `Name: value` that authenticates the webhooks of older DocuSeal installations, which do not sign them.',
    {},
  ),
  DOCUMENT_LINK_DAYS: setting(integer(1, 365), 'How many days a signing link is valid.', { default: '30' }),
  ONDO_API_KEY: setting(parsers.text, 'The API key of Ondo Global Markets, the pricing venue.', {
    defaultNote: 'the sandbox venue',
    required: 'tokenized swaps are offered',
  }),
  ONDO_URL: setting(parsers.providerUrl, 'The Ondo Global Markets API.', {
    defaultNote: '`https://api.gm.ondo.finance`',
  }),
  ATTESTATION_MAX_SECONDS: setting(
    integer(10, 600),
    'The maximum validity of an attestation from the venue, in seconds. Attestations that are valid for longer are refused, because issued calldata cannot be recalled.',
    { default: '120' },
  ),
};

const WEBHOOKS = {
  WEBHOOK_ALLOW_CIDRS: setting(
    parsers.cidrList,
    'Private networks that webhooks may be sent to, comma-separated, such as `10.1.0.0/16`. Endpoints inside them may also use `http`. Partners can then send requests to every server in these networks.',
    { defaultNote: 'loopback' },
  ),
  WEBHOOK_PROXY: setting(
    parsers.url(['http:']),
    'An HTTP proxy such as `http://smokescreen:4750` that all webhooks pass through (CONNECT). The service still checks each address before it asks the proxy to connect.',
    { defaultNote: 'none' },
  ),
};

const LIMIT_SETTINGS = Object.fromEntries(
  Object.entries(LIMITS).map(([name, [limit, description]]) => [
    `RATE_LIMIT_${name.toUpperCase()}`,
    setting(integer(1, 1_000_000), description, { default: String(limit) }),
  ]),
) as Record<`RATE_LIMIT_${Uppercase<LimitName>}`, Setting<number> & { hasDefault: true }>;

const RATE_LIMITS = {
  RATE_LIMITS: setting(
    oneOf('memory', 'postgres', 'redis'),
    '`memory` counts per node. `postgres` shares the counters between nodes, at the cost of one statement per request. `redis` shares them through the server at `REDIS_URL`; while that server is down, each node counts on its own.',
    { default: 'memory' },
  ),
  REDIS_URL: setting(
    url(['redis:', 'rediss:']),
    'The Redis server that counts requests, with credentials in the URL.',
    {
      required: '`RATE_LIMITS` is `redis`',
    },
  ),
  ...LIMIT_SETTINGS,
};

/** Every setting, in the order of the documentation. */
export const SETTING_GROUPS = {
  Service: SERVICE,
  Database: DATABASE,
  Sandbox: SANDBOX,
  Mail: MAIL,
  Chains: CHAINS,
  'Keys and wallets': KEYS,
  Compliance: COMPLIANCE,
  Settlement: SETTLEMENT,
  Providers: PROVIDERS,
  Webhooks: WEBHOOKS,
  'Rate limits (requests per minute)': RATE_LIMITS,
} satisfies Record<string, Record<string, Setting>>;

export const SETTINGS = {
  ...SERVICE,
  ...DATABASE,
  ...SANDBOX,
  ...MAIL,
  ...CHAINS,
  ...KEYS,
  ...COMPLIANCE,
  ...SETTLEMENT,
  ...PROVIDERS,
  ...WEBHOOKS,
  ...RATE_LIMITS,
};

export type SettingName = keyof typeof SETTINGS;

/** The type of a setting's parsed value. The value is null if the setting is unset and has no default. */
export type SettingValue<N extends SettingName> = (typeof SETTINGS)[N] extends Setting<infer T> & {
  hasDefault: infer D;
}
  ? D extends true
    ? T
    : T | null
  : never;
