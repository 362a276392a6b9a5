import { apiRoutes } from '../../src/edges/routes.ts';
import { isUserScope, PARTNER_SCOPES, SCOPES } from '../../src/kernel/access.ts';
import { sortMembers } from '../../src/kernel/stable-json.ts';
import { VERSION } from '../../src/kernel/version.ts';
import type { Route } from '../../src/platform/http/route.ts';
import { oauthOperations } from './oauth-operations.ts';
import { extraOperation, routeOperation } from './operation.ts';
import { collectComponents } from './schema.ts';

type Json = Record<string, unknown>;

/** A named section of the reference with an introduction. An operation belongs to the first group whose paths match. */
type ApiGroup = { name: string; description: string; paths: RegExp };

/** The groups of the API reference, in the order in which a partner needs them. */
const GROUPS: readonly ApiGroup[] = [
  {
    name: 'Sign-in',
    paths: /^\/(oauth|\.well-known)\//,
    description:
      'OAuth 2.0 and OpenID Connect. A **user token** comes from the authorization code flow with PKCE and acts for one signed-in user; a **partner token** comes from client credentials and acts for your app alone. Any certified client library works: point it at the discovery document.',
  },
  {
    name: 'Offers',
    paths: /^\/v1\/offers(\/\{id\})?$/,
    description:
      'What users can invest in: token sales, fund swaps and tokenized assets. The `contracts` of an offer list every address that a wallet needs, so your app does not have to hard-code any.',
  },
  {
    name: 'Requirements',
    paths: /^\/v1\/offers\/\{offer_id\}\/(requirements|eligibility|acknowledgements)/,
    description:
      'What an option requires of the user, which requirements the user has met, and what to do next. Statuses come from stored facts, so polling them is cheap; `eligibility` explains every check that an investment has to pass.',
  },
  {
    name: 'Identity and documents',
    paths: /^\/v1\/(kyc-token|pii|documents\/)/,
    description:
      'Identity verification in the provider’s own dialog, the verified personal data for filling in forms, and tax forms that the user signs by email.',
  },
  {
    name: 'Wallets',
    paths: /^\/v1\/(wallet-ownership|offers\/\{offer_id\}\/(addresses|allow-wallet))/,
    description:
      'Users prove that a wallet is theirs by signing a challenge: request it, let the wallet sign the exact `message`, then send the signature. Each challenge works once: even a wrong signature uses it up.',
  },
  {
    name: 'Participations',
    paths: /^\/v1\/participations/,
    description:
      'Investments in token sales. The wallet approves the fund on chain, you send the hash of that transaction, and we settle the investment exactly once. Follow its `status` from `prepared` to `completed` by polling or through events.',
  },
  {
    name: 'Swap contracts',
    paths: /^\/v1\/(swap|wallet|token)\//,
    description:
      'Reads swap contracts and ERC-20 tokens at the latest block, so that your app needs no RPC node.',
  },
  {
    name: 'Tokenized assets',
    paths: /^\/v1\/tokenized\//,
    description:
      'Shares and funds as tokens. Quotes and the trading status are free to poll. The transaction endpoint is the commit step: call it once per user confirmation and broadcast the result before `expires_at`.',
  },
  {
    name: 'Events',
    paths: /^\/v1\/events/,
    description:
      'Everything that you would otherwise poll for, in one log with a gapless `sequence`: as a list, as a stream of server-sent events, or delivered by webhooks.',
  },
  {
    name: 'Webhooks',
    paths: /^\/v1\/webhook-/,
    description:
      'Events delivered to your server, signed according to Standard Webhooks and retried for 24 hours. Verify `webhook-signature` over the raw body before you trust a delivery.',
  },
  {
    name: 'Health',
    paths: /^\/health/,
    description: 'For load balancers and monitoring.',
  },
  {
    name: 'Provider callbacks',
    paths: /^\/webhooks\//,
    description: 'Called by the identity and signing providers, never by partners.',
  },
  {
    name: 'Sandbox',
    paths: /^\/sandbox/,
    description:
      'Sandbox controls, which need no authentication and work only from this machine: tokens without a browser, users, identity decisions, signatures, market hours, test money, blocks, faults, the clock and the mailbox. Production has none of them.',
  },
];

const DESCRIPTION = `Partner applications call this API on behalf of a signed-in user (authorization code with PKCE) or for
themselves (client credentials), with an \`Authorization: Bearer\` header.

Amounts are decimal strings in the token's smallest unit. Times are UTC with microseconds. Every object has an \`object\`
member with its type, except parts whose members are fixed (asset, jurisdiction, address, option, terms, links). Lists are
paginated by cursor, newest first. Every POST under \`/v1\` accepts an \`Idempotency-Key\`. Every error is one object with a
\`code\` for programs and an \`event_id\` to quote in support requests. New members may be added to replies: ignore those
that you do not know.`;

const SECURITY_SCHEMES = {
  userToken: {
    type: 'oauth2',
    description:
      'The token of a signed-in user, obtained through the authorization code flow with PKCE (S256) and the client secret.',
    flows: {
      authorizationCode: {
        authorizationUrl: '/oauth/authorize',
        tokenUrl: '/oauth/token',
        refreshUrl: '/oauth/token',
        scopes: Object.fromEntries(Object.entries(SCOPES).filter(([scope]) => isUserScope(scope))),
      },
    },
  },
  partnerToken: {
    type: 'oauth2',
    description: 'The token of the partner itself, without a user.',
    flows: {
      clientCredentials: {
        tokenUrl: '/oauth/token',
        scopes: Object.fromEntries(PARTNER_SCOPES.map((scope) => [scope, SCOPES[scope]])),
      },
    },
  },
  clientSecret: {
    type: 'http',
    scheme: 'basic',
    description: 'The client id and secret. Both can also be sent in the body.',
  },
};

/**
 * Returns the OpenAPI 3.1 document of the API, of the authorization server and of `more` routes. The schemas of routes
 * are already JSON Schema.
 */
export function apiDocument(more: readonly Route[] = []): Json {
  const components = collectComponents();
  const paths: Record<string, Json> = {};
  const add = (path: string, method: string, operation: Json) => {
    paths[path] = { ...paths[path], [method]: { ...operation, tags: [groupOf(path)] } };
  };
  for (const each of oauthOperations) add(each.path, each.method, extraOperation(each, components));
  for (const route of [...apiRoutes, ...more]) {
    const path = route.path.replace(/:([a-z_]+)/g, '{$1}');
    add(path, route.method.toLowerCase(), routeOperation(route, components));
  }
  const used = new Set(Object.keys(paths).map(groupOf));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway',
      version: VERSION,
      summary: 'Offers, requirements, wallets, participations and swaps for partner applications.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This installation' }],
    tags: GROUPS.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description })),
    paths,
    components: { schemas: sortMembers(components.schemas), securitySchemes: SECURITY_SCHEMES },
  };
}

function groupOf(path: string): string {
  const group = GROUPS.find(({ paths }) => paths.test(path));
  if (group === undefined) throw new Error(`${path} is not in any group of the API reference`);
  return group.name;
}
