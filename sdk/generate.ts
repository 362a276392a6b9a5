import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** The subset of JSON Schema that openapi.json uses. Anything else becomes `unknown`. */
type Schema = {
  $ref?: string;
  const?: unknown;
  enum?: unknown[];
  type?: string | string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  patternProperties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  description?: string;
  examples?: string[];
};
type Content = { content: { 'application/json': { schema: Schema } } };
type ReplyContent = {
  content: Partial<Record<'application/json' | 'text/event-stream', { schema: Schema }>>;
};
type Operation = {
  operationId: string;
  summary: string;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema }[];
  requestBody?: Content;
  responses: { 200: ReplyContent };
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};

/** Types that become unions with one variant per value of `type`. TypeScript narrows them when code checks `type`. */
const DISCRIMINATED = new Set(['Offer', 'OfferDetails']);
const HEADER = '// Generated from openapi.json by `npm run generate`; do not edit.\n';

const resolvePath = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const document = JSON.parse(await readFile(resolvePath('../openapi.json'), 'utf8')) as Document;
await writeFile(resolvePath('src/wire.ts'), generateTypes(document));

function generateTypes({ paths, components }: Document): string {
  const named = Object.entries(components.schemas).map(([name, schema]) => {
    const comment = schema.description === undefined ? '' : `/** ${schema.description} */\n`;
    return `${comment}export type ${name} = ${namedTypeOf(name, schema)};\n`;
  });
  const codes = components.schemas.ErrorBody?.properties?.code?.examples ?? [];
  const errorCodes = `/** The error codes known to this version. A newer service may send others. */\nexport type ErrorCode =${codes.map((code) => `\n  | '${code}'`).join('')};\n`;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    path.startsWith('/v1/') ? Object.values(methods).map(operationOf) : [],
  );
  const table = `/** The query, body and reply of each API operation. */\nexport type Operations = {\n${operations.join('')}};\n`;
  return [HEADER, ...named, errorCodes, table].join('\n');
}

function namedTypeOf(name: string, schema: Schema): string {
  const { type, ...properties } = schema.properties ?? {};
  if (!DISCRIMINATED.has(name) || type?.enum === undefined) return typeOf(schema);
  const variants = type.enum.map((value) => `{ type: ${literal(value)} }`);
  return `${typeOf({ ...schema, properties })} & (${variants.join(' | ')})`;
}

function operationOf({ operationId, summary, parameters = [], requestBody, responses }: Operation): string {
  // Leaves out filter parameters: the client has its own type for filters.
  const query = parameters.filter(({ name, in: place }) => place === 'query' && !name.includes('['));
  const querySchema: Schema = {
    type: 'object',
    properties: Object.fromEntries(query.map(({ name, schema }) => [name, schema])),
    required: query.flatMap(({ name, required }) => (required ? [name] : [])),
  };
  const members = [
    query.length === 0 ? '' : `    query: ${typeOf(querySchema, '    ')};\n`,
    requestBody === undefined
      ? ''
      : `    body: ${typeOf(requestBody.content['application/json'].schema, '    ')};\n`,
    `    reply: ${typeOf(replySchema(responses[200].content), '    ')};\n`,
  ];
  return `  /** ${summary}. */\n  ${operationId}: {\n${members.join('')}  };\n`;
}

/** Returns the schema of a JSON reply or, for a stream, of one event. */
function replySchema(content: ReplyContent['content']): Schema {
  return (content['application/json'] ?? content['text/event-stream'])?.schema ?? {};
}

function typeOf(schema: Schema, indent = ''): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? '';
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants !== undefined) return variants.map((variant) => typeOf(variant, indent)).join(' | ');
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ');
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `Array<${typeOf(schema.items ?? {}, indent)}>`;
    case 'object':
      return objectOf(schema, indent);
    default:
      return 'unknown';
  }
}

function objectOf(schema: Schema, indent: string): string {
  const entries = Object.entries(schema.properties ?? {});
  const values =
    Object.values(schema.patternProperties ?? {})[0] ??
    (typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined);
  if (values !== undefined) return `Record<string, ${typeOf(values, indent)}>`;
  if (entries.length === 0)
    return schema.additionalProperties === true ? 'Record<string, unknown>' : 'Record<string, never>';
  const inner = `${indent}  `;
  const members = entries.map(([name, property]) => {
    const comment = property.description === undefined ? '' : `${inner}/** ${property.description} */\n`;
    const [mark, suffix] = schema.required?.includes(name) ? ['', ''] : ['?', ' | undefined'];
    return `${comment}${inner}${/^\w+$/.test(name) ? name : literal(name)}${mark}: ${typeOf(property, inner)}${suffix};\n`;
  });
  return `{\n${members.join('')}${indent}}`;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "\\'")}'` : JSON.stringify(value);
}
