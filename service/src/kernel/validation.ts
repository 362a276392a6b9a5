import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import fastJson from 'fast-json-stringify';
import type { FastifySchemaCompiler } from 'fastify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import type { TSchema } from 'typebox';
import { ApiError } from './errors.ts';
import { FORMATS } from './wire.ts';

/**
 * `typed` does not coerce, because requests and provider data must have the right types. `file` coerces: in files
 * written by hand, the number `1` may stand for the text "1".
 */
const validators = { typed: newValidator(false), file: newValidator(true) };

function newValidator(coerceTypes: boolean): Ajv2020 {
  // The schemas are built with TypeBox, so the TypeScript compiler has already checked them. Having Ajv validate them
  // too would take a fifth of the startup time.
  const ajv = new Ajv2020({
    validateSchema: false,
    allErrors: true,
    coerceTypes,
    useDefaults: true,
    strict: false,
    ownProperties: true,
  });
  for (const [name, { test }] of Object.entries(FORMATS)) ajv.addFormat(name, test);
  return ajv;
}

/** Compiles the schema on first use, because most routes are not called in the first seconds, if ever. */
function lazily(schema: TSchema): (data: unknown) => ErrorObject[] | null {
  let validate: ReturnType<Ajv2020['compile']> | undefined;
  return (data) => {
    validate ??= validators.typed.compile(schema);
    return validate(data) ? null : (validate.errors ?? []);
  };
}

type Text = Record<string, unknown>;

/**
 * Returns a function that converts text to numbers and booleans in a query or form. Only plain digits, with or without
 * a minus sign, count as a number, although JavaScript also accepts ` 5`, `1e1` and `0x5`.
 */
function textReader(schema: TSchema): (text: Text) => void {
  const properties = Object.entries(
    (schema as { properties?: Record<string, { type?: unknown }> }).properties ?? {},
  );
  const namesOf = (type: string) => properties.filter(([, each]) => each.type === type).map(([name]) => name);
  const [integers, booleans] = [namesOf('integer'), namesOf('boolean')];
  return (text) => {
    for (const name of integers) {
      const value = text[name];
      if (typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value)) text[name] = Number(value);
    }
    for (const name of booleans) {
      if (text[name] === 'true' || text[name] === 'false') text[name] = text[name] === 'true';
    }
  };
}

/**
 * Validates queries and paths, but not bodies. Fastify selects the schema of a body by content type, so an unusual
 * content type could bypass the validation. `bodyCheck` validates bodies instead.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema }) => {
  const [problems, readText] = [lazily(schema), textReader(schema)];
  return (data) => {
    readText(data);
    const found = problems(data);
    return found === null ? { value: data } : { error: toApiError(found) };
  };
};

/** Returns a function that throws unless the body matches. Form values are converted to the schema's types. */
export function bodyCheck(schema: TSchema): (body: unknown, isForm: boolean) => void {
  const [problems, readText] = [lazily(schema), textReader(schema)];
  return (body, isForm) => {
    if (isForm) readText(body as Text);
    const found = problems(body);
    if (found !== null) throw toApiError(found);
  };
}

/** Compiles a fast reply serializer, which omits undeclared members. */
export const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  let serialize: ReturnType<typeof fastJson> | undefined;
  return (data) => {
    serialize ??= fastJson(schema as Parameters<typeof fastJson>[0]);
    return serialize(data);
  };
};

/**
 * The maximum number of problems that a reply lists. That many are enough to fix a request. Listing thousands would
 * cost more than the request itself.
 */
const MAX_REPORTED_PROBLEMS = 20;

function toApiError(errors: ErrorObject[]): ApiError {
  // The object has no prototype, because a field may be called `__proto__`.
  const fields: Record<string, string[]> = Object.create(null);
  for (const error of errors.slice(0, MAX_REPORTED_PROBLEMS)) {
    const [field, message] = explain(error);
    fields[field] = [...new Set([...(fields[field] ?? []), message])];
  }
  return new ApiError('validation_failed', fields);
}

function explain(error: ErrorObject): [field: string, message: string] {
  const path = error.instancePath.slice(1).replaceAll('/', '.');
  const member = (name: string) => (path === '' ? name : `${path}.${name}`);
  switch (error.keyword) {
    case 'required':
      return [member(error.params.missingProperty), 'is required'];
    case 'additionalProperties':
      return [member(error.params.additionalProperty), 'is not a known field'];
    case 'enum':
      return [path || 'body', `must be one of ${error.params.allowedValues.join(', ')}`];
    case 'const':
      return [path || 'body', `must be ${error.params.allowedValue}`];
    case 'format':
      return [path || 'body', FORMATS[error.params.format]?.description ?? 'has the wrong format'];
    default:
      return [path || 'body', error.message ?? 'is invalid'];
  }
}

export type Problem = { path: string; message: string };

/**
 * Returns the problems in a hand-written document, such as an offer file. Coerces values to the schema's types and
 * fills in defaults.
 */
export function findProblems(schema: TSchema, data: unknown): Problem[] {
  const validate = validators.file.compile(schema);
  if (validate(data)) return [];
  return (validate.errors ?? [])
    .filter(({ keyword }) => keyword !== 'if')
    .map((error) => {
      const [path, message] = explain(error);
      return { path, message };
    });
}

/** Returns whether external data, such as a provider's response or a file, matches its schema. */
export function isValid(schema: TSchema, data: unknown): boolean {
  return validators.typed.validate(schema, data);
}
