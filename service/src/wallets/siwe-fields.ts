import { ApiError } from '../errors.ts';
import type { SiweFields } from './message.ts';
import type { NewChallenge } from './schema.ts';

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** An RFC 3986 authority without user info: host name, IPv4 or bracketed IPv6 address, optional port. */
const DOMAIN = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9A-Fa-f:.]{2,45}\\])(?::[0-9]{1,5})?$`);
/** The characters of an RFC 3986 URI. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;
/** The characters of an ERC-4361 statement; a line feed would allow field injection. */
const STATEMENT = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;= ]+$/;

const FIELDS = {
  domain: { isValid: (text: string) => DOMAIN.test(text), message: 'must be a host, optionally with a port' },
  uri: {
    isValid: (text: string) => URI.test(text) && URL.canParse(text),
    message: 'must be an absolute URI',
  },
  statement: {
    isValid: (text: string) => STATEMENT.test(text),
    message: "must be one line of letters, digits, spaces and -._~:/?#[]@!$&'()*+,;= (ERC-4361)",
  },
} as const;

type Field = keyof typeof FIELDS;

/** Reads the fields of a `siwe` challenge. Rejects text that could inject another line. */
export function readSiweFields(input: NewChallenge): SiweFields {
  const problems: Record<string, string[]> = {};
  const read = (field: Field): string => {
    const text = input[field];
    if (text === undefined) problems[field] = ['is required for siwe'];
    else if (!FIELDS[field].isValid(text)) problems[field] = [FIELDS[field].message];
    return text ?? '';
  };
  const fields = { domain: read('domain'), uri: read('uri'), statement: read('statement') };
  if (Object.keys(problems).length > 0) throw new ApiError('validation_failed', problems);
  return fields;
}

/** Throws `validation_failed` if a plain challenge carries SIWE fields. */
export function assertNoSiweFields(input: NewChallenge): void {
  const sent = (Object.keys(FIELDS) as Field[]).filter((field) => input[field] !== undefined);
  if (sent.length === 0) return;
  throw new ApiError(
    'validation_failed',
    Object.fromEntries(sent.map((field) => [field, ['is only allowed with challenge_type siwe']])),
  );
}
