import type { TSchema } from 'typebox';
import { ERRORS, type ErrorCode } from '../errors.ts';
import { sortMembers } from '../stable-json.ts';
import { SCOPES } from './access.ts';
import { Failure } from './failure.ts';
import type { Route } from './route.ts';

type Json = Record<string, unknown>;

const DESCRIPTION = `Partner applications call this API on behalf of a signed-in user (authorization code with PKCE) or for
themselves (client credentials), with an \`Authorization: Bearer\` header.

Amounts are decimal strings in the token's smallest unit. Times are UTC with microseconds. Every object has an \`object\`
member with its type. Lists are paginated by cursor, newest first. Every POST under \`/v1\` accepts an
\`Idempotency-Key\`. Every error is one object with a \`code\` for programs and an \`event_id\` to quote in support requests.`;

const ANY_ROUTE: readonly ErrorCode[] = ['malformed_request', 'internal_error', 'unavailable'];
const WITH_TOKEN: readonly ErrorCode[] = ['unauthorized', 'insufficient_scope', 'rate_limited'];

/** Generates the OpenAPI 3.1 document from the declared routes, whose schemas are JSON Schema already. */
export function openApiDocument(routes: readonly Route[], version: string): Json {
  const schemas: Json = {};
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = route.path.replace(/:([a-z_]+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, schemas) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway',
      version,
      summary: 'Offers, requirements, wallets, participations and swaps for partner applications.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.map(tagOf))].map((name) => ({ name })),
    paths,
    components: {
      schemas: sortMembers(schemas),
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          flows: {
            authorizationCode: {
              authorizationUrl: '/oauth/authorize',
              tokenUrl: '/oauth/token',
              scopes: SCOPES,
            },
          },
        },
      },
    },
  };
}

/** The first path segment after the version names the group. */
function tagOf({ path }: Route): string {
  const [first = '', second = ''] = path.split('/').slice(1);
  return first === 'v1' ? second : (first.replace(/^\./, '').split(/[-.]/)[0] ?? first);
}

function operation(route: Route, schemas: Json): Json {
  const { access, method, path, body, forms } = route;
  const isIdempotent = method === 'POST' && path.startsWith('/v1/');
  const codes: ErrorCode[] = [
    ...ANY_ROUTE,
    ...(access.who === 'public' ? [] : WITH_TOKEN),
    ...(route.errors ?? []),
  ];
  if (access.who === 'user') codes.push('user_token_required');
  if (access.who === 'user' && method !== 'GET') codes.push('account_restricted');
  if (body !== undefined || route.query !== undefined) codes.push('validation_failed');
  if (isIdempotent) codes.push('idempotency_in_progress', 'idempotency_key_reused');
  const parameters = [
    ...parametersOf('path', route.params, schemas),
    ...parametersOf('query', route.query, schemas),
    ...(isIdempotent ? [IDEMPOTENCY_KEY] : []),
  ];
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...(route.description && { description: route.description }),
    tags: [tagOf(route)],
    ...(access.who !== 'public' && { security: [{ oauth2: [access.scope] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: { required: true, content: contentOf(body, schemas, forms) } }),
    responses: {
      200: {
        description: 'Success',
        content: route.stream
          ? { 'text/event-stream': { schema: hoist(route.reply, schemas) } }
          : contentOf(route.reply, schemas),
      },
      ...failures(codes, schemas),
    },
  };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes the request safe to retry for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

function parametersOf(location: 'path' | 'query', schema: TSchema | undefined, schemas: Json): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: location,
    ...(required.includes(name) && { required: true }),
    schema: hoist(property, schemas),
  }));
}

function contentOf(schema: TSchema, schemas: Json, forms?: true): Json {
  const content = { schema: hoist(schema, schemas) };
  return { 'application/json': content, ...(forms && { 'application/x-www-form-urlencoded': content }) };
}

/** Returns one response per status, listing its error codes. */
function failures(codes: readonly ErrorCode[], schemas: Json): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of new Set(codes))
    byStatus.set(ERRORS[code][0], [...(byStatus.get(ERRORS[code][0]) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: list.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join('\n\n'),
        content: contentOf(Failure, schemas),
      },
    ]),
  );
}

/** Replaces schemas that have a title by references to named components. */
function hoist(schema: unknown, schemas: Json): unknown {
  if (Array.isArray(schema)) return schema.map((item) => hoist(item, schemas));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { title } = schema as { title?: unknown };
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, hoist(value, schemas)]));
  if (typeof title !== 'string') return copy;
  const known = schemas[title];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(copy))
    throw new Error(`two different schemas have the title ${title}`);
  schemas[title] = copy;
  return { $ref: `#/components/schemas/${title}` };
}
