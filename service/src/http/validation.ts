import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import fastJson from 'fast-json-stringify';
import type { FastifySchemaCompiler } from 'fastify';
import type { FastifySerializerCompiler } from 'fastify/types/schema.js';
import type { TSchema } from 'typebox';
import { ApiError } from '../errors.ts';
import { FORMATS } from './wire.ts';

/** JSON is taken as it is typed; queries, paths and forms are text, so numbers and booleans are read from it. */
const readers = { json: newReader(false), text: newReader(true) };

function newReader(coerceTypes: boolean): Ajv2020 {
  // Our schemas are built by TypeBox and types check them; checking them again would take a fifth of the start.
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

/** Compiled when it is first asked: most processes serve few of the routes in their first seconds, if ever. */
function lazily(reader: Ajv2020, schema: TSchema): (data: unknown) => ErrorObject[] | null {
  let validate: ReturnType<Ajv2020['compile']> | undefined;
  return (data) => {
    validate ??= reader.compile(schema);
    return validate(data) ? null : (validate.errors ?? []);
  };
}

/** For queries and paths. Bodies are checked by `bodyCheck`, which cannot be missed by an odd content type. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema }) => {
  const problems = lazily(readers.text, schema);
  return (data) => {
    const found = problems(data);
    return found === null ? { value: data } : { error: toApiError(found) };
  };
};

/** Throws unless the body fits; text of a form is read as the types of the schema. */
export function bodyCheck(schema: TSchema): (body: unknown, isForm: boolean) => void {
  const [json, text] = [lazily(readers.json, schema), lazily(readers.text, schema)];
  return (body, isForm) => {
    const found = (isForm ? text : json)(body);
    if (found !== null) throw toApiError(found);
  };
}

/** The serializer of a reply: quick, and silent about members that are not declared. */
export const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  let serialize: ReturnType<typeof fastJson> | undefined;
  return (data) => {
    serialize ??= fastJson(schema as Parameters<typeof fastJson>[0]);
    return serialize(data);
  };
};

function toApiError(errors: ErrorObject[]): ApiError {
  // Without a prototype: a field may be called `__proto__`.
  const fields: Record<string, string[]> = Object.create(null);
  for (const error of errors) {
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
      return [path || 'body', FORMATS[error.params.format]?.says ?? 'has the wrong format'];
    default:
      return [path || 'body', error.message ?? 'is invalid'];
  }
}

export type Problem = { path: string; message: string };

/**
 * What is wrong with a document written by hand, such as an offer's file. Text is read as the types of the schema, and
 * defaults are filled in.
 */
export function findProblems(schema: TSchema, data: unknown): Problem[] {
  const validate = readers.text.compile(schema);
  if (validate(data)) return [];
  return (validate.errors ?? [])
    .filter(({ keyword }) => keyword !== 'if')
    .map((error) => {
      const [path, message] = explain(error);
      return { path, message };
    });
}

/** Checks data from elsewhere (a provider's answer, a file) against its schema; the caller decides what a failure means. */
export function isValid(schema: TSchema, data: unknown): boolean {
  return readers.json.validate(schema, data);
}
