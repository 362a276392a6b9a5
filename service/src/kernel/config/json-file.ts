import { readFileSync } from 'node:fs';

/** Matches a private key in hexadecimal, in base58, as a JSON array or as PEM. An EVM address is too short to match. */
const KEY_LIKE =
  /-----BEGIN[\s\S]*?(-----END[^\n]*?-----|$)|(0x)?[0-9a-fA-F]{60,}|[1-9A-HJ-NP-Za-km-z]{42,}|\[\s*\d+\s*,[\s\d,]*\]?/g;

/** Redacts everything that could be a private key, because an operator may have pasted one by mistake. */
export function redactKeys(text: string): string {
  return text.replace(KEY_LIKE, '[redacted]');
}

/**
 * A problem in a settings file. The message names the member but leaves out its value, which may be a key that an
 * operator pasted by mistake.
 */
export class InvalidMember extends Error {
  constructor(message: string) {
    super(redactKeys(message));
  }
}

/** Parses a JSON file. Throws `InvalidMember` if the file cannot be read or is not valid JSON. */
export function readJsonFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    // The message of a SyntaxError would quote the file.
    if (error instanceof SyntaxError) throw new InvalidMember('the file is not valid JSON');
    throw new InvalidMember(`the file cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Returns the value if it is an object. Otherwise throws `InvalidMember` with `problem` as its message. */
export function toObject(problem: string, value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new InvalidMember(problem);
  return value as Record<string, unknown>;
}
