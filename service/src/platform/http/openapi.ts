import { isUserScope, PARTNER_SCOPES, SCOPES } from '../../kernel/access.ts';
import { sortMembers } from '../../kernel/stable-json.ts';
import { type ExtraOperation, extraOperation, routeOperation } from './openapi-operation.ts';
import { collectComponents } from './openapi-schema.ts';
import type { Route } from './route.ts';

type Json = Record<string, unknown>;

/** A named section of the reference with an introduction. An operation belongs to the first group whose paths match. */
export type ApiGroup = { name: string; description: string; paths: RegExp };

export type ApiDescription = {
  version: string;
  description: string;
  routes: readonly Route[];
  groups: readonly ApiGroup[];
  extra: readonly ExtraOperation[];
};

/** Generates the OpenAPI 3.1 document from the declared routes. Their schemas are already JSON Schema. */
export function openApiDocument({ version, description, routes, groups, extra }: ApiDescription): Json {
  const components = collectComponents();
  const paths: Record<string, Json> = {};
  const add = (path: string, method: string, operation: Json) => {
    paths[path] = { ...paths[path], [method]: { ...operation, tags: [groupOf(groups, path)] } };
  };
  for (const each of extra) add(each.path, each.method, extraOperation(each, components));
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)/g, '{$1}');
    add(path, route.method.toLowerCase(), routeOperation(route, components));
  }
  const used = new Set(Object.keys(paths).map((path) => groupOf(groups, path)));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway',
      version,
      summary: 'Offers, requirements, wallets, participations and swaps for partner applications.',
      description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'This installation' }],
    tags: groups.filter(({ name }) => used.has(name)).map(({ name, description }) => ({ name, description })),
    paths,
    components: { schemas: sortMembers(components.schemas), securitySchemes: SECURITY_SCHEMES },
  };
}

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

function groupOf(groups: readonly ApiGroup[], path: string): string {
  const group = groups.find(({ paths }) => paths.test(path));
  if (group === undefined) throw new Error(`${path} is not in any group of the API reference`);
  return group.name;
}
