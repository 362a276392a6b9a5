import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { apiDocument } from '../generate/openapi/document.ts';
import { apiRoutes } from '../src/edges/routes.ts';
import { FORMATS } from '../src/kernel/wire.ts';

type Json = Record<string, unknown>;
type Content = Record<string, { schema: Json; examples?: { example: { value: unknown } } }>;
type Operation = {
  operationId: string;
  tags: string[];
  summary: string;
  security: Record<string, string[]>[];
  parameters?: { name: string; in: string; schema: Json; required?: boolean; example?: unknown }[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
};

const api = apiDocument() as {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Json>; securitySchemes: Record<string, Json> };
};
const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);
const find = (operationId: string) => {
  const found = operations.find((operation) => operation.operationId === operationId);
  if (found === undefined) throw new Error(`no operation ${operationId}`);
  return found;
};

const ajv = new Ajv2020({ strict: false, formats: Object.fromEntries(formats()) });
ajv.addSchema({ $id: 'api', components: api.components });

function* formats(): Generator<[string, (text: string) => boolean]> {
  for (const [name, { test }] of Object.entries(FORMATS)) yield [name, test];
}

/** Returns the validation errors of a value, or null if it is valid. Resolves references within the document. */
function problems(schema: Json, value: unknown) {
  const text = JSON.stringify(schema).replaceAll('"#/components', '"api#/components');
  const check = ajv.compile(JSON.parse(text));
  return check(value) ? null : check.errors;
}

describe('the OpenAPI document', () => {
  test('has every route, and the committed file is up to date', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(ids).toEqual(expect.arrayContaining(apiRoutes.map(({ operationId }) => operationId)));
    const committed = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
    expect(committed).toBe(`${JSON.stringify(apiDocument(), null, 2)}\n`);
  });

  test('has the authorization server, with both flows, and every operation says which tokens it takes', () => {
    for (const path of [
      '/oauth/authorize',
      '/oauth/token',
      '/oauth/revoke',
      '/oauth/introspect',
      '/oauth/userinfo',
      '/oauth/jwks',
      '/oauth/logout',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-authorization-server',
    ])
      expect(api.paths).toHaveProperty([path]);
    const flows = Object.values(api.components.securitySchemes).flatMap(({ flows }) =>
      Object.keys(flows ?? {}),
    );
    expect(flows.sort()).toEqual(['authorizationCode', 'clientCredentials']);
    expect(find('listOffers').security).toEqual([
      { userToken: ['offers:read'] },
      { partnerToken: ['offers:read'] },
    ]);
    expect(find('createKycToken').security).toEqual([{ userToken: ['identity:write'] }]);
    expect(find('createWebhookEndpoint').security).toEqual([{ partnerToken: ['webhooks:write'] }]);
    expect(find('introspectToken').security).toEqual([]);
    expect(find('getHealth').security).toEqual([]);
    expect(operations.every(({ security }) => Array.isArray(security))).toBe(true);
  });

  test('declares the errors that any request can get', () => {
    for (const { path, method, responses } of operations)
      expect([method, path, Object.keys(responses)]).toEqual([
        method,
        path,
        expect.arrayContaining(['400', '405', '413', '414', '415', '429', '500', '503']),
      ]);
  });

  test('has unique operation ids, groups with introductions and summaries', () => {
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const groups = new Map(api.tags.map(({ name, description }) => [name, description]));
    for (const { tags, summary } of operations) {
      expect(summary).not.toBe('');
      expect(groups.get(tags[0] ?? '')?.length).toBeGreaterThan(20);
    }
  });

  test('declares the statuses of the server itself', () => {
    for (const { responses, operationId } of operations)
      for (const status of ['405', '414', '500', '503'])
        expect([operationId, status in responses]).toEqual([operationId, true]);
    expect(find('listOffers').responses).toHaveProperty('304');
    expect(find('listParticipations').responses).not.toHaveProperty('304');
    for (const status of ['413', '415', '429'])
      expect(find('createParticipation').responses).toHaveProperty(status);
    expect(find('introspectToken').responses).not.toHaveProperty('422');
  });

  test('describes filters as parameters', () => {
    const names = (id: string) => find(id).parameters?.map(({ name }) => name);
    expect(names('listParticipations')).toEqual(
      expect.arrayContaining(['filters[0][field]', 'filters[0][op]', 'filters[0][value]']),
    );
    const field = find('listParticipations').parameters?.find(({ name }) => name === 'filters[0][field]');
    expect(field?.schema.enum).toEqual(['offer_id', 'offer_option_id', 'user_id', 'status', 'user_email']);
    expect(names('listOffers')).not.toContain('filters[0][field]');
  });

  test('names the variants of unions, with a discriminator where one exists', () => {
    expect(api.components.schemas.Requirement).toMatchObject({
      oneOf: expect.arrayContaining([{ $ref: '#/components/schemas/DocumentRequirement' }]),
      discriminator: {
        propertyName: 'type',
        mapping: {
          accreditation: '#/components/schemas/IdentityRequirement',
          jurisdiction: '#/components/schemas/JurisdictionRequirement',
        },
      },
    });
    expect(api.components.schemas.TokenRequest).toMatchObject({
      discriminator: { propertyName: 'grant_type' },
    });
    for (const [name, { anyOf }] of Object.entries(api.components.schemas))
      for (const variant of (anyOf ?? []) as Json[])
        expect([name, '$ref' in variant || variant.type === 'null']).toEqual([name, true]);
  });

  test('replies tolerate added members, requests refuse unknown ones, and errors have their own schemas', () => {
    expect(api.components.schemas.Participation).not.toHaveProperty('additionalProperties');
    expect(api.components.schemas.NewKycToken).toMatchObject({ additionalProperties: false });
    expect(api.components.schemas).not.toHaveProperty('Error');
    const schemaOf = (id: string, status: string) =>
      find(id).responses[status]?.content?.['application/json']?.schema.$ref;
    expect(schemaOf('introspectToken', '401')).toBe('#/components/schemas/OAuthErrorBody');
    expect(schemaOf('listOffers', '401')).toBe('#/components/schemas/ErrorBody');
  });

  test('every example is valid', () => {
    for (const { operationId, requestBody, responses, parameters = [] } of operations) {
      const contents = [requestBody, ...Object.values(responses)].flatMap((part) =>
        Object.values(part?.content ?? {}),
      );
      for (const { schema, examples } of contents)
        if (examples !== undefined)
          expect([operationId, problems(schema, examples.example.value)]).toEqual([operationId, null]);
      for (const { name, schema, example, required } of parameters)
        if (required)
          expect([operationId, name, problems(schema, example)]).toEqual([operationId, name, null]);
    }
  });
});
