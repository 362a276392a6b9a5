import { ApiError } from '../../kernel/errors.ts';

const MAX_DEPTH = 32;
const MAX_MEMBERS = 500;

/**
 * Matches an escaped NUL. After an even number of backslashes, `u0000` is plain text, because each pair is one escaped
 * backslash.
 */
const NUL_ESCAPE = /(?<!\\)(?:\\\\)*\\u0000/;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** Decodes a body. Throws `malformed_request` if it is not UTF-8. */
export function decodeUtf8(body: Buffer): string {
  try {
    return decoder.decode(body);
  } catch (cause) {
    throw malformed('The body is not valid UTF-8.', cause);
  }
}

/**
 * Parses JSON. Rejects duplicate keys, deep nesting and the member `__proto__`. Parsers treat these differently, and
 * two readers of the same body must never see different requests. Also rejects NUL characters, which PostgreSQL text
 * cannot store, and bodies with too many members, because validating each member takes time.
 */
export function parseStrictJson(body: Buffer): unknown {
  const text = decodeUtf8(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw malformed('The body is not valid JSON.', cause);
  }
  if (NUL_ESCAPE.test(text)) throw malformed('NUL characters are not allowed.');
  if (typeof value === 'object' && value !== null) checkMembers(text);
  return value;
}

/** Checks nesting and keys in one pass over text that is known to be valid JSON. */
function checkMembers(text: string): void {
  const open: (Set<string> | null)[] = [];
  let expectsKey = false;
  let members = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') {
      const start = i;
      for (i++; text[i] !== '"'; i++) if (text[i] === '\\') i++;
      if (expectsKey) {
        if (++members > MAX_MEMBERS) throw malformed(`The body has more than ${MAX_MEMBERS} members.`);
        addKey(open.at(-1), JSON.parse(text.slice(start, i + 1)));
        expectsKey = false;
      }
    } else if (char === '{' || char === '[') {
      if (open.push(char === '{' ? new Set() : null) > MAX_DEPTH)
        throw malformed(`The body is nested deeper than ${MAX_DEPTH} levels.`);
      expectsKey = char === '{';
    } else if (char === '}' || char === ']') {
      open.pop();
      expectsKey = false;
    } else if (char === ',') {
      expectsKey = open.at(-1) instanceof Set;
    }
  }
}

function addKey(keys: Set<string> | null | undefined, key: string): void {
  if (key === '__proto__') throw malformed('The member "__proto__" is not allowed.');
  if (keys?.has(key)) throw malformed('An object contains a duplicate key.');
  keys?.add(key);
}

function malformed(message: string, cause?: unknown): ApiError {
  return new ApiError('malformed_request', {}, { message, cause });
}
