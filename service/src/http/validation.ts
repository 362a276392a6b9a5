import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { ApiError } from '../errors.ts';
import { FORMATS } from './wire.ts';

/** JSON is taken as it is typed; queries, paths and forms are text, so numbers and booleans are read from it. */
const readers = { json: newReader(false), text: newReader(true) };

function newReader(coerceTypes: boolean): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: true,
    coerceTypes,
    useDefaults: true,
    strict: false,
    ownProperties: true,
  });
  for (const [name, { test }] of Object.entries(FORMATS)) ajv.addFormat(name, test);
  return ajv;
}

/** For queries and paths. Bodies are checked by `bodyCheck`, which cannot be missed by an odd content type. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema }) => {
  const validate = readers.text.compile(schema);
  return (data) => (validate(data) ? { value: data } : { error: toApiError(validate.errors ?? []) });
};

/** Throws unless the body fits; text of a form is read as the types of the schema. */
export function bodyCheck(schema: TSchema): (body: unknown, isForm: boolean) => void {
  const validate = { json: readers.json.compile(schema), text: readers.text.compile(schema) };
  return (body, isForm) => {
    const check = isForm ? validate.text : validate.json;
    if (!check(body)) throw toApiError(check.errors ?? []);
  };
}

function toApiError(errors: ErrorObject[]): ApiError {
  const fields: Record<string, string[]> = {};
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
