import { getAddress } from 'viem/utils';
import { type ChainName, chainFacts } from '../../kernel/chains.ts';
import { ApiError } from '../../kernel/errors.ts';
import type { NewChallenge } from './schema.ts';

export type MessageFacts = {
  address: string;
  chain: ChainName;
  partner: string;
  account: string;
  nonce: string;
  issuedAt: string;
  expiresAt: string;
};

/** The fields of a sign-in message (ERC-4361) that depend on the requesting page. */
export type SiweFields = { domain: string; uri: string; statement: string };

const PROTOCOL_NAMES = { ethereum: 'Ethereum', solana: 'Solana' } as const;

/** Returns the EIP-155 chain id. On Solana, returns the cluster name that Sign-In-With-Solana uses. */
function chainId(chain: ChainName): string {
  return String(chainFacts(chain).chainId ?? chain.split('_').at(-1));
}

/** ERC-4361 and its Sign-In-With-Solana equivalent fix the order of the lines. */
export function signInMessage(facts: MessageFacts, { domain, uri, statement }: SiweFields): string {
  const { protocol } = chainFacts(facts.chain);
  const address = protocol === 'ethereum' ? getAddress(facts.address) : facts.address;
  return [
    `${domain} wants you to sign in with your ${PROTOCOL_NAMES[protocol]} account:`,
    address,
    '',
    statement,
    '',
    `URI: ${uri}`,
    'Version: 1',
    `Chain ID: ${chainId(facts.chain)}`,
    `Nonce: ${facts.nonce}`,
    `Issued At: ${facts.issuedAt}`,
    `Expiration Time: ${facts.expiresAt}`,
  ].join('\n');
}

export function openingSentence({ partner, account }: Pick<MessageFacts, 'partner' | 'account'>): string {
  return `${partner} asks you to prove that you own this wallet for account ${account}.`;
}

export function plainMessage(facts: MessageFacts): string {
  return [
    openingSentence(facts),
    '',
    'Signing this text costs nothing and sends no transaction.',
    '',
    `Partner: ${facts.partner}`,
    `Wallet: ${getAddress(facts.address)}`,
    `Chain: ${facts.chain} (${chainId(facts.chain)})`,
    `Nonce: ${facts.nonce}`,
    `Issued At: ${facts.issuedAt}`,
    `Expires At: ${facts.expiresAt}`,
  ].join('\n');
}

/** Keeps only characters that ERC-4361 statements allow. Hardware wallets can display these too. */
export function asciiName(name: string, fallback: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;= ]/g, '')
    .trim();
  return plain === '' ? fallback : plain;
}

const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?';
/** An RFC 3986 authority without user info: host name, IPv4 or bracketed IPv6 address, optional port. */
const DOMAIN = new RegExp(`^(?:${LABEL}(?:\\.${LABEL})*|\\[[0-9A-Fa-f:.]{2,45}\\])(?::[0-9]{1,5})?$`);
/** Only characters that RFC 3986 allows in a URI. */
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/;
/** Only characters that ERC-4361 allows in a statement. A line feed would allow field injection. */
const STATEMENT = /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;= ]+$/;

export type PartnerPlaces = { origins: readonly string[]; redirect_uris: readonly string[] };

const FIELDS = ['domain', 'uri', 'statement'] as const;

/**
 * Reads the fields of a `siwe` challenge. Rejects text that could add another line to the message. Also rejects a
 * domain or URI that the partner has not registered. Otherwise, a partner could ask for signatures that appear to be
 * for another site.
 */
export function readSiweFields(
  input: NewChallenge,
  places: PartnerPlaces,
): Omit<SiweFields, 'statement'> & { statement: string | undefined } {
  const { domain, uri, statement } = input;
  const problems: Record<string, string[]> = {};
  const domainProblem = findDomainProblem(domain, places);
  if (domainProblem !== null) problems.domain = [domainProblem];
  const uriProblem = findUriProblem(uri, places);
  if (uriProblem !== null) problems.uri = [uriProblem];
  if (statement !== undefined && !STATEMENT.test(statement))
    problems.statement = [
      "must be one line of letters, digits, spaces and -._~:/?#[]@!$&'()*+,;= (ERC-4361)",
    ];
  if (domain === undefined || uri === undefined || Object.keys(problems).length > 0)
    throw new ApiError('validation_failed', problems);
  return { domain, uri, statement };
}

function findDomainProblem(domain: string | undefined, places: PartnerPlaces): string | null {
  if (domain === undefined) return 'is required if challenge_type is "siwe"';
  if (!DOMAIN.test(domain)) return 'must be a host, optionally with a port';
  const isPartners = listOrigins(places).some((origin) => {
    const { protocol, host } = new URL(origin);
    const named = `${protocol}//${domain}`;
    return URL.canParse(named) && new URL(named).host === host;
  });
  return isPartners ? null : 'must be the host of a registered origin or https redirect URI';
}

function findUriProblem(uri: string | undefined, places: PartnerPlaces): string | null {
  if (uri === undefined) return 'is required if challenge_type is "siwe"';
  if (!URI.test(uri) || !URL.canParse(uri)) return 'must be an absolute URI';
  const { origin, protocol, username, password } = new URL(uri);
  const isWeb = protocol === 'https:' || protocol === 'http:';
  const isPartners = isWeb
    ? listOrigins(places).includes(origin) && username === '' && password === ''
    : places.redirect_uris.includes(uri);
  return isPartners
    ? null
    : 'must be under a registered origin or https redirect URI, or be a registered custom-scheme redirect URI';
}

function listOrigins({ origins, redirect_uris }: PartnerPlaces): string[] {
  const secure = redirect_uris.filter((uri) => uri.startsWith('https:'));
  return [...origins, ...secure].map((uri) => new URL(uri).origin);
}

export function assertNoSiweFields(input: NewChallenge): void {
  const sent = FIELDS.filter((field) => input[field] !== undefined);
  if (sent.length === 0) return;
  throw new ApiError(
    'validation_failed',
    Object.fromEntries(sent.map((field) => [field, ['is only allowed if challenge_type is "siwe"']])),
  );
}
