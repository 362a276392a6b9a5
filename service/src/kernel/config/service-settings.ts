import * as parsers from './parsers.ts';
import { integer, oneOf, url } from './parsers.ts';
import { setting } from './setting.ts';

export const SERVICE = {
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
    'How many seconds a client may take to send a request or to read the reply. The service closes connections that take longer.',
    { default: '30' },
  ),
  PARTNER_CONCURRENCY: setting(
    integer(1, 100_000),
    'The maximum number of requests per partner, and of OAuth requests per client, that a node handles concurrently. Further requests wait in order of arrival, so that one partner cannot use up all connections.',
    { default: '100' },
  ),
  MAX_EVENT_LOOP_LAG_MS: setting(
    integer(10, 60_000),
    'How long a request may wait for the node, in milliseconds. A node that is too busy answers 503 `unavailable` instead of letting requests wait longer.',
    { sandbox: '5000', production: '200' },
  ),
  MAX_POOL_WAIT_MS: setting(
    integer(100, 60_000),
    'The expected wait for a database connection, in milliseconds, above which a node answers 503 `unavailable` instead of queueing the request.',
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
