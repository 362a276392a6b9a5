import type { TSchema } from 'typebox';
import { ERRORS, type ErrorCode } from '../../src/kernel/errors.ts';
import { Failure, OAuthFailure } from '../../src/platform/http/failure.ts';
import { exampleOf } from './examples.ts';
import type { Components } from './schema.ts';

type Json = Record<string, unknown>;

export const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes the request safe to retry for 24 hours.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

export const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of an earlier reply. If it is still current, the reply is 304 without a body.',
  schema: { type: 'string' },
};

export function parametersOf(
  location: 'path' | 'query',
  schema: TSchema | undefined,
  components: Components,
): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema & { description?: string; type?: unknown; items?: unknown }>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: location,
    ...(property.description && { description: property.description }),
    ...(required.includes(name) && { required: true, example: exampleOf(property, {}, name) }),
    // An array is sent as one comma-separated value.
    ...(Array.isArray(property.type) && property.type.includes('array')
      ? { style: 'form', explode: false, schema: { type: 'array', items: property.items } }
      : { schema: components.request(property) }),
  }));
}

/** Documents the parameters of the first filter. A request may have ten filters, numbered from 0. */
export function filterParameters(fields: readonly string[] | undefined): Json[] {
  if (fields === undefined) return [];
  const parameter = (part: string, description: string, schema: Json) => ({
    name: `filters[0][${part}]`,
    in: 'query',
    description,
    schema,
  });
  return [
    parameter(
      'field',
      'The field to filter by. Further filters are `filters[1]`, `filters[2]` and so on, up to ten in total.',
      {
        type: 'string',
        enum: fields,
      },
    ),
    parameter('op', 'The comparison. `in` takes a comma-separated list of values.', {
      type: 'string',
      enum: ['==', '!=', 'in'],
    }),
    parameter('value', 'The value to compare with.', { type: 'string' }),
  ];
}

export const JSON_ONLY = ['application/json'] as const;
export const FORM_TOO = ['application/json', 'application/x-www-form-urlencoded'] as const;

export function requestBody(body: TSchema, components: Components, types: readonly string[]): Json {
  const schema = components.request(body);
  const content = { schema, examples: { example: { value: exampleOf(schema, components.schemas) } } };
  return { required: true, content: Object.fromEntries(types.map((type) => [type, content])) };
}

export function replyContent(reply: TSchema, components: Components): Json {
  const schema = components.reply(reply);
  return { schema, examples: { example: { value: exampleOf(schema, components.schemas) } } };
}

/** Returns one response per HTTP status. Each response lists the error codes with that status. */
export function failures(codes: readonly ErrorCode[], path: string, components: Components): Json {
  const isOAuth = path.startsWith('/oauth/');
  const schema = components.reply(isOAuth ? OAuthFailure : Failure);
  const byStatus = new Map<number, ErrorCode[]>();
  // OAuth endpoints never return `validation_failed`. They answer invalid parameters with 400 (RFC 6749 §5.2).
  for (const code of new Set(codes.filter((each) => !isOAuth || each !== 'validation_failed')))
    byStatus.set(ERRORS[code][0], [...(byStatus.get(ERRORS[code][0]) ?? []), code]);
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: list.map((code) => `\`${code}\`: ${ERRORS[code][1]}`).join('\n\n'),
        ...(RETRY_STATUSES.includes(status) && { headers: RETRY_AFTER }),
        content: {
          'application/json': { schema, examples: { example: { value: failureExample(list[0], isOAuth) } } },
        },
      },
    ]),
  );
}

const RETRY_STATUSES = [429, 503];
const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer' } },
};

function failureExample(code: ErrorCode | undefined, isOAuth: boolean): Json {
  const message = code === undefined ? '' : ERRORS[code][1];
  return {
    ...(isOAuth && { error: 'invalid_request', error_description: message }),
    message,
    type: 'api_error',
    code,
    errors: code === 'validation_failed' ? { amount: ['is required'] } : {},
    event_id: '3f2b6c1e-9a0d-4c57-8e21-5d4f3a2b1c0d',
  };
}
