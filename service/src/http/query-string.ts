import { decodeUtf8 } from './strict-json.ts';

/**
 * The limit on query parameters, more than any of our routes needs. It exists because the router parses the
 * query before anything else is checked.
 */
const MAX_PAIRS = 200;

/** Marks a query that cannot be decoded. The router's parser must not throw; `refuseRequest` throws later. */
export const MALFORMED = Symbol('malformed');

export type Query = Record<string, string | string[]> & { [MALFORMED]?: true };

/** Parses a query. Repeated names become lists; bracketed names are not interpreted. */
export function parseQuery(text: string): Query {
  const query: Query = Object.create(null);
  if (text === '') return query;
  try {
    for (const [name, value] of pairs(text)) {
      const before = query[name];
      if (before === undefined) query[name] = value;
      else if (Array.isArray(before)) before.push(value);
      else query[name] = [before, value];
    }
  } catch {
    query[MALFORMED] = true;
  }
  return query;
}

/** Parses a form body. Returns null if it cannot be decoded or repeats a name. */
export function parseForm(body: Buffer): Record<string, string> | null {
  const form: Record<string, string> = Object.create(null);
  try {
    for (const [name, value] of pairs(decodeUtf8(body))) {
      if (name in form) return null;
      form[name] = value;
    }
  } catch {
    return null;
  }
  return form;
}

function* pairs(text: string): Generator<[string, string]> {
  let count = 0;
  for (const part of text.split('&')) {
    if (part === '') continue;
    if (++count > MAX_PAIRS) throw new Error('too many pairs');
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    yield [decode(name), equals < 0 ? '' : decode(part.slice(equals + 1))];
  }
}

function decode(text: string): string {
  if (text.includes('%00')) throw new Error('NUL character');
  return text.includes('%') || text.includes('+') ? decodeURIComponent(text.replaceAll('+', ' ')) : text;
}
