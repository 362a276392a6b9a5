import { decodeUtf8 } from './strict-json.ts';

/**
 * The maximum number of parameters in a query or form. No route needs that many. The limit is enforced here, because
 * the router parses the query before anything else is checked.
 */
const MAX_PAIRS = 200;

/**
 * Marks a query that cannot be decoded or has too many parameters. `parseQuery` must not throw, because the router
 * calls it, so `refuseRequest` throws later.
 */
export const MALFORMED = Symbol('malformed');

export type Query = Record<string, string | string[]> & { [MALFORMED]?: true };

/**
 * Constructs objects that inherit nothing. They are faster to read than objects from `Object.create(null)`, which the
 * engine stores as hash tables.
 */
function EmptyObject() {}
EmptyObject.prototype = Object.create(null);
const newEmptyObject = () => Reflect.construct(EmptyObject, []) as Record<string, never>;

/** Parses a query. Repeated names become lists; bracketed names are not interpreted. */
export function parseQuery(text: string): Query {
  const query: Query = newEmptyObject();
  if (text === '') return query;
  try {
    readPairs(text, (name, value) => {
      const before = query[name];
      if (before === undefined) query[name] = value;
      else if (Array.isArray(before)) before.push(value);
      else query[name] = [before, value];
    });
  } catch {
    query[MALFORMED] = true;
  }
  return query;
}

/** Parses a form body. Returns null if it cannot be decoded, repeats a name or has too many parameters. */
export function parseForm(body: Buffer): Record<string, string> | null {
  const form: Record<string, string> = newEmptyObject();
  try {
    readPairs(decodeUtf8(body), (name, value) => {
      if (name in form) throw new Error('repeated name');
      form[name] = value;
    });
  } catch {
    return null;
  }
  return form;
}

function readPairs(text: string, onPair: (name: string, value: string) => void): void {
  let count = 0;
  for (const part of text.split('&')) {
    if (part === '') continue;
    if (++count > MAX_PAIRS) throw new Error('too many pairs');
    const equals = part.indexOf('=');
    const name = equals < 0 ? part : part.slice(0, equals);
    onPair(decode(name), equals < 0 ? '' : decode(part.slice(equals + 1)));
  }
}

function decode(text: string): string {
  if (text.includes('%00') || text.includes('\0')) throw new Error('NUL character');
  return text.includes('%') || text.includes('+') ? decodeURIComponent(text.replaceAll('+', ' ')) : text;
}
