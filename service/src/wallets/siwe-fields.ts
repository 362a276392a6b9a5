import { ApiError } from '../errors.ts';
import type { SiweFields } from './message.ts';
import type { NewChallenge } from './schema.ts';

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** RFC 3986 authority without a user: a host name, an IPv4 or a bracketed IPv6 address, and perhaps a port. */
const DOMAIN = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9A-Fa-f:.]{2,45}\\])(?::[0-9]{1,5})?$`);
/** RFC 3986: the characters that a URI is made of. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;
/** ERC-4361: what a statement is made of; above all no line feed. */
const STATEMENT = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;= ]+$/;

const FIELDS = {
  domain: { fits: (text: string) => DOMAIN.test(text), says: 'must be a host, with its port if it has one' },
  uri: { fits: (text: string) => URI.test(text) && URL.canParse(text), says: 'must be an absolute URI' },
  statement: {
    fits: (text: string) => STATEMENT.test(text),
    says: "must be one line of letters, digits, spaces and -._~:/?#[]@!$&'()*+,;= (ERC-4361)",
  },
} as const;

type Field = keyof typeof FIELDS;

/** The fields of a `siwe` challenge. Nothing passes that could end a line or begin another field. */
export function readSiweFields(input: NewChallenge): SiweFields {
  const problems: Record<string, string[]> = {};
  const read = (field: Field): string => {
    const text = input[field];
    if (text === undefined) problems[field] = ['is required for siwe'];
    else if (!FIELDS[field].fits(text)) problems[field] = [FIELDS[field].says];
    return text ?? '';
  };
  const asker = { domain: read('domain'), uri: read('uri'), statement: read('statement') };
  if (Object.keys(problems).length > 0) throw new ApiError('validation_failed', problems);
  return asker;
}

export function refuseAsker(input: NewChallenge): void {
  const sent = (Object.keys(FIELDS) as Field[]).filter((field) => input[field] !== undefined);
  if (sent.length === 0) return;
  throw new ApiError(
    'validation_failed',
    Object.fromEntries(sent.map((field) => [field, ['is for challenge_type siwe only']])),
  );
}
