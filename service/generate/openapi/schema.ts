type Json = Record<string, unknown>;

/** Collects the named components of the document. `schemas` contains every schema that has a title. */
export type Components = {
  /** Returns the schema for a request. Requests with unknown members are refused. */
  request(schema: unknown): unknown;
  /** Returns the schema for a reply. The schema allows additional members, because later versions may add some. */
  reply(schema: unknown): unknown;
  schemas: Json;
};

export function collectComponents(): Components {
  const schemas: Json = {};
  const hoist = (schema: unknown, isReply: boolean): unknown => {
    if (Array.isArray(schema)) return schema.map((item) => hoist(item, isReply));
    if (typeof schema !== 'object' || schema === null) return schema;
    const { title, ...rest } = schema as Json;
    const members = Object.entries(isReply ? openUp(rest) : rest);
    const copy = complete(
      Object.fromEntries(members.map(([key, value]) => [key, hoist(value, isReply)])),
      schemas,
    );
    if (typeof title !== 'string') return copy;
    const known = schemas[title];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify({ title, ...copy }))
      throw new Error(`two different schemas have the title "${title}"`);
    schemas[title] = { title, ...copy };
    return { $ref: `#/components/schemas/${title}` };
  };
  return {
    request: (schema) => hoist(schema, false),
    reply: (schema) => hoist(schema, true),
    schemas,
  };
}

/** Allows additional members in the objects of a reply. Objects that declare no members must stay empty. */
function openUp(schema: Json): Json {
  const { additionalProperties, ...rest } = schema;
  const isEmpty = Object.keys((schema.properties ?? {}) as Json).length === 0;
  return additionalProperties === false && !isEmpty ? rest : schema;
}

/**
 * Rewrites a schema for code generators: describes maps with `additionalProperties`, gives enums a type, and gives
 * unions a discriminator.
 */
function complete(schema: Json, schemas: Json): Json {
  const { patternProperties, anyOf, ...rest } = schema;
  // A map with any key.
  const values = (patternProperties as Json | undefined)?.['^.*$'];
  if (values !== undefined) return { ...rest, additionalProperties: values };
  if (Array.isArray(schema.enum) && schema.type === undefined) return { type: 'string', ...schema };
  const discriminator = Array.isArray(anyOf) ? discriminate(anyOf, schemas) : null;
  return discriminator === null ? schema : { ...rest, oneOf: anyOf, discriminator };
}

/** Returns the discriminator of a union whose named variants differ in their `type` or `grant_type`, otherwise null. */
function discriminate(variants: readonly unknown[], schemas: Json): Json | null {
  for (const propertyName of ['type', 'grant_type']) {
    const mapping: Record<string, string> = {};
    for (const variant of variants) {
      const { $ref } = variant as { $ref?: string };
      const values = valuesOf(schemas[$ref?.split('/').at(-1) ?? ''], propertyName);
      for (const value of values) mapping[value] = String($ref);
    }
    if (new Set(Object.values(mapping)).size === variants.length) return { propertyName, mapping };
  }
  return null;
}

function valuesOf(schema: unknown, property: string): string[] {
  const { properties = {} } = (schema ?? {}) as {
    properties?: Record<string, { const?: string; enum?: string[] }>;
  };
  const { const: only, enum: several = [] } = properties[property] ?? {};
  return only === undefined ? several : [only];
}
