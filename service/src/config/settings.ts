import * as parsers from './parsers.ts';
import { integer, oneOf, url } from './parsers.ts';
import { LIMITS, type LimitName } from './rate-limits.ts';
import { SERVICE } from './service-settings.ts';
import { type Setting, setting } from './setting.ts';
import { CHAINS, SETTLEMENT } from './settlement-settings.ts';

export type { Setting };

const DATABASE = {
  DATABASE_URL: setting(
    parsers.databaseUrl,
    'The PostgreSQL database, or a comma-separated list of its hosts, of which the primary is used: `postgres://user@one:5432,two:5432/causeway`. Any number of nodes can share one; each applies pending migrations under a lock when it starts.',
    { required: true, defaultNote: 'an embedded PostgreSQL' },
  ),
  DATABASE_LISTEN_URL: setting(
    parsers.databaseUrl,
    'The same database without the pooler, if `DATABASE_URL` leads through one in transaction mode. Notifications, session locks and migrations use it.',
    { defaultNote: '`DATABASE_URL`' },
  ),
  DATABASE_POOL: setting(integer(2, 500), 'Connections per node.', { default: '10' }),
  EVENTS_RETENTION_DAYS: setting(integer(30, 3650), 'How many days events are kept.', { default: '90' }),
  NOTICE_RETENTION_DAYS: setting(
    integer(30, 3650),
    'How many days the service remembers what it has mailed to a user, so that it mails nothing twice.',
    { default: '365' },
  ),
  ORDER_RETENTION_DAYS: setting(
    integer(7, 3650),
    'How many days tokenized orders without a trade are kept. Trades are business records and are kept.',
    { default: '90' },
  ),
  AUDIT_RETENTION_DAYS: setting(
    integer(365, 36_500),
    'How many days the audit log and the record of who read personal data are kept. Deleted entries leave a signed start, from which `causeway audit verify` continues.',
    { default: '3650' },
  ),
};

const SANDBOX = {
  CAUSEWAY_DATA: setting(
    parsers.path,
    'The data directory: the embedded database, the sandbox state and the generated secret.',
    { default: '.causeway' },
  ),
  CAUSEWAY_SANDBOX_PUBLIC: setting(
    oneOf('yes'),
    '`yes` lets the sandbox listen on a host that is not loopback, have an `https` public URL and answer `/sandbox` through proxies, for containers. Anyone who reaches it can sign in as anyone. Not allowed in production.',
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
    '`required` sends mail only over TLS; `optional` also accepts a server without it, such as a relay on this machine.',
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
    'The private key that commits and refunds participations on sale funds. Set at most one of `OPERATOR_KEY`, `OPERATOR_KEY_FILE` and `OPERATOR_KMS_KEY`; without any, this process settles nothing.',
    { defaultNote: 'a sandbox key', required: 'tokenized swaps are offered' },
  ),
  OPERATOR_KEY_FILE: setting(parsers.path, 'A file that contains the operator key.', {}),
  OPERATOR_KMS_KEY: setting(
    parsers.text,
    'The id, alias or ARN of an AWS KMS key (`ECC_SECG_P256K1`, `SIGN_VERIFY`) to use as the operator key.',
    {},
  ),
  OPERATOR_KEYS_FILE: setting(
    parsers.path,
    'A JSON file that gives roles separate keys, on all EVM chains, on one, or on a Solana cluster: `{"refund": {"kms": "alias/refund"}, "base_mainnet": {"commit": {"file": "/run/secrets/commit"}}, "solana_mainnet": {"refund": {"kms": "alias/solana-refund"}}}`. Roles: `commit` (also revokes wallets on allow-lists), `refund`, `quote` (tokenized swaps), `supplier`. A role without a key uses the operator key, except `supplier`, which uses `SUPPLIER_KEY`. Solana has `commit` and `refund` only, with Ed25519 keys. `{"address": "0x…"}` in place of a `commit` or `refund` key says that only other nodes have it. Each key signs for its roles only.',
    { defaultNote: 'the operator key has every role' },
  ),
  OPERATOR_KMS_ENDPOINT: setting(
    url(['https:', 'http:']),
    'A KMS endpoint that replaces the default of the region.',
    { defaultNote: "the region's endpoint" },
  ),
  AWS_REGION: setting(parsers.text, 'The region of the KMS key.', { required: 'a key is in KMS' }),
  AWS_ACCESS_KEY_ID: setting(parsers.text, 'The AWS access key.', { required: 'a key is in KMS' }),
  AWS_SECRET_ACCESS_KEY: setting(parsers.text, 'The AWS secret.', { required: 'a key is in KMS' }),
  AWS_SESSION_TOKEN: setting(parsers.text, 'The session token of temporary AWS credentials.', {}),
  OPERATOR_RETIRED_KEYS: setting(
    parsers.list,
    'Replaced operator keys, comma-separated: private keys, or KMS key ids, each with `commit=` or `refund=` in front if it had only that role. The service follows their transactions until the last one is final, and sends nothing new from them. It refuses to start while a replaced key that is not listed has such transactions.',
    {},
  ),
  OPERATOR_POLICY_FILE: setting(
    parsers.path,
    'A JSON file that lists what the keys may sign on each chain: `{"ethereum_mainnet": {"contracts": ["0x…"], "daily_fee": "2000000000000000000", "daily_amounts": {"0x…": "1000000000"}}}`. `contracts` are the funds, allow-lists and swaps, on Solana the funds and vaults. `daily_fee` (wei or lamports) and `daily_amounts` (smallest units per token) limit what each role signs in 24 hours; a token without an amount cannot be moved. `roles` replaces any of these for `commit`, `refund`, `quote` or `supplier`, whose `daily_permissions` limits how many wallets it permits. Only `contracts` is required, and a bare list of contracts works too. The signer refuses everything else, chains that are not listed included, so that a changed database cannot redirect money. Keep the file out of reach of the database. The signer always refuses to send value and to call functions other than commits, refunds and revocations.',
    { defaultNote: 'any contract' },
  ),
  OPERATOR_SPEND_DIR: setting(
    parsers.path,
    'A directory in which the signers count what they sign against the limits of `OPERATOR_POLICY_FILE`, so that neither a restart nor a changed database resets them. Nodes that share the directory share the limits; otherwise each node has its own. Not on NFS.',
    { defaultNote: 'in memory' },
  ),
  SOLANA_OPERATOR_KEY: setting(
    parsers.solanaKey,
    'The Ed25519 key that commits and refunds participations on Solana, except for roles with a key in `OPERATOR_KEYS_FILE`: base58, or the JSON array of a keypair file. Set at most one of `SOLANA_OPERATOR_KEY`, `SOLANA_OPERATOR_KEY_FILE` and `SOLANA_OPERATOR_KMS_KEY`; without any key, this process settles nothing on Solana.',
    { defaultNote: 'a sandbox key' },
  ),
  SOLANA_OPERATOR_KEY_FILE: setting(parsers.path, 'A file that contains the Solana operator key.', {}),
  SOLANA_OPERATOR_KMS_KEY: setting(
    parsers.text,
    'The id, alias or ARN of an AWS KMS key (`ECC_NIST_EDWARDS25519`, `SIGN_VERIFY`) to use as the Solana operator key.',
    {},
  ),
  SUPPLIER_KEY: setting(
    parsers.privateKey,
    'The private key that allow-list contracts accept as their supplier. Without it no wallet can be allowed.',
    { defaultNote: 'a sandbox key' },
  ),
  SANCTIONS_FILE: setting(
    parsers.path,
    'A file with one blocked wallet address per line. It is reloaded when it changes and on SIGHUP. An empty file, or one that has lost more than a fifth of its addresses, is refused and the previous list stays in use; `causeway sanctions accept` accepts it.',
    { required: '`SANCTIONS` is not `none`' },
  ),
  SANCTIONS: setting(oneOf('none'), '`none` runs production without a sanctions list.', {}),
};

const COMPLIANCE = {
  BLOCKED_COUNTRIES: setting(
    parsers.areas,
    'Countries and regions whose residents no offer accepts, comma-separated: ISO 3166-1 codes (`KP`) and ISO 3166-2 codes (`UA-43`). `none` blocks nobody.',
    { default: 'CU,IR,KP,UA-43,UA-40,UA-14,UA-09' },
  ),
  COUNTRY_CHANGE_POLICY: setting(
    oneOf('flag', 'review'),
    'What happens when a user moves from a rejected to an accepted country: `flag` logs a warning and lists the change (`causeway user country-changes`); with `review` the user also waits for `causeway user approve-country`.',
    { default: 'flag' },
  ),
};

const PROVIDERS = {
  SUMSUB_URL: setting(parsers.providerUrl, 'The Sumsub API. Its webhooks go to `/webhooks/identity`.', {
    default: 'https://api.sumsub.com',
  }),
  SUMSUB_APP_TOKEN: setting(
    parsers.text,
    'The Sumsub app token; production needs one that starts with `prd:`.',
    { required: true, defaultNote: 'the sandbox provider' },
  ),
  SUMSUB_SECRET: setting(parsers.text, 'The secret of the app token.', { required: true }),
  SUMSUB_WEBHOOK_SECRET: setting(
    parsers.list,
    'The secrets that Sumsub signs webhooks with, comma-separated, so that one can be replaced.',
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
    'Private networks that webhooks may be sent to, comma-separated, such as `10.1.0.0/16`. Endpoints inside them may also use `http`. Partners can reach everything that listens there.',
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
    '`memory` counts per node; `postgres` shares the counters between nodes at the cost of one statement per request; `redis` shares them in the server at `REDIS_URL`, and each node counts alone while that is down.',
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
