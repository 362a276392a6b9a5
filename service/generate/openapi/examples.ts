import { FORMATS } from '../../src/kernel/wire.ts';

type Schema = {
  $ref?: string;
  const?: unknown;
  enum?: unknown[];
  examples?: unknown[];
  type?: string | string[];
  format?: string;
  minimum?: number;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
};

/**
 * Example values by member name, for schemas without an example. All examples in the API reference use the same values,
 * so the examples are consistent with each other.
 */
const BY_NAME: Record<string, unknown> = {
  id: '019a0b1c-2d3e-7f40-8a5b-6c7d8e9f0a1b',
  offer_id: '019a0b1c-2d3e-7f40-8a5b-000000000001',
  offer_option_id: '019a0b1c-2d3e-7f40-8a5b-000000000002',
  requirement_id: '019a0b1c-2d3e-7f40-8a5b-000000000003',
  user_id: '019a0b1c-2d3e-7f40-8a5b-000000000004',
  sub: '019a0b1c-2d3e-7f40-8a5b-000000000004',
  event_id: '3f2b6c1e-9a0d-4c57-8e21-5d4f3a2b1c0d',
  request_id: '3f2b6c1e-9a0d-4c57-8e21-5d4f3a2b1c0d',
  applicant_id: '665f0c1d2e3f4a5b6c7d8e9f',
  endpoint_id: '019a0b1c-2d3e-7f40-8a5b-000000000005',
  delivery_id: '019a0b1c-2d3e-7f40-8a5b-000000000006',
  slug: 'harbour-quarter',
  name: 'Harbour Quarter',
  tagline: 'Flats and workshops on the old quay',
  about: 'Harbour Quarter turns three warehouses into 48 flats and 12 workshops.',
  category: 'Real estate',
  key: 'Minimum purchase',
  value: 'USD 100',
  label: 'Website',
  question: 'When can I sell?',
  answer: 'From the first anniversary of the sale.',
  wallet_address: '0x5aeda56215b167893e80b4fe645ba6d5bab767de',
  address: '0x5aeda56215b167893e80b4fe645ba6d5bab767de',
  owner: '0x5aeda56215b167893e80b4fe645ba6d5bab767de',
  asset_id: 'usd-coin',
  symbol: 'AAPLon',
  ticker: 'AAPL',
  data: '0x8f3c1a20',
  message: 'Harbour Invest asks you to prove that this wallet is yours.',
  signature: `0x${'1b'.repeat(65)}`,
  approval_transaction_hash: `0x${'4e'.repeat(32)}`,
  transaction_hash: `0x${'4e'.repeat(32)}`,
  approval_hash: `0x${'4e'.repeat(32)}`,
  commit_hash: `0x${'7a'.repeat(32)}`,
  remit_hash: null,
  email: 'ada@sandbox.test',
  username: 'ada@sandbox.test',
  to: 'ada@sandbox.test',
  password: 'correct horse battery staple',
  full_legal_name: 'Ada Lovelace',
  date_of_birth: '1990-12-10',
  iso_2: 'PT',
  country: 'PT',
  street: 'Rua do Cais 12',
  city: 'Lisbon',
  state: 'Lisbon',
  postal_code: '1100-100',
  tax_id: '123456789',
  token: 'sbx-5f2b9c7d',
  access_token: 'mZ0pJ1qWv8yT4rS7uK2xN5bC9dE3fG6hA0iL8oP1sQ4',
  refresh_token: 'rT7yU2iO9pA4sD6fG8hJ1kL3zX5cV0bN2mQ4wE6rT8',
  id_token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIwMTlhIn0.c2lnbmF0dXJl',
  client_id: 'harbour-invest-0a1b2c3d4e5f',
  client_secret: 'cws_2mQ4wE6rT8yU2iO9pA4sD6fG8hJ1kL3zX5cV0bN2mQ4',
  scope: 'openid offers:read participations:read',
  iss: 'https://invest.example',
  exp: 1767323945,
  iat: 1767323045,
  expires_in: 900,
  url: 'https://partner.example/webhooks/causeway',
  secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  description: 'Investments in our app',
  chain_id: '1',
  decimals: 6,
  fractional_digits: 6,
  asset_decimals: 18,
  pay_input_decimals: 6,
  receive_output_decimals: 18,
  sequence: 42,
  starting_after: 'Zmlyc3QgcGFnZQ',
  starting_before: 'bGFzdCBwYWdl',
  document_type: 'tax_certification',
  domain: 'app.partner.example',
  uri: 'https://app.partner.example/wallet',
  statement: 'Connect this wallet to Harbour Quarter.',
  type: 'participation.completed',
  object: 'participation',
  types: 'participation.*',
  token_type_hint: 'access_token',
  redirect_uri: 'https://partner.example/callback',
  code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
  scopes_supported: 'offers:read',
  path: '/v1/kyc-token',
  method: 'POST',
  code: 'validation_failed',
  error: 'invalid_request',
  error_description: 'The request could not be parsed.',
};

const BY_FORMAT: Record<string, unknown> = {
  uint256: '1000000',
  decimal: '1000.5',
  'date-time': '2026-01-02T03:04:05.678901Z',
  uri: 'https://invest.example/assets/harbour-quarter.svg',
  email: 'ada@sandbox.test',
  'evm-address': '0x1f9840a85d5af5bf1d1762f925bdaddc4201f984',
  'transaction-hash': `0x${'4e'.repeat(32)}`,
};

/**
 * Returns a realistic example of a schema. `schemas` contains the named components that the schema refers to.
 */
export function exampleOf(schema: unknown, schemas: Record<string, unknown>, name = ''): unknown {
  const known = schema as Schema;
  if (known.$ref !== undefined) return exampleOf(schemas[known.$ref.split('/').at(-1) ?? ''], schemas, name);
  if (known.const !== undefined) return known.const;
  if (known.examples?.[0] !== undefined) return known.examples[0];
  if (known.enum !== undefined) return known.enum[0];
  const [variant] = known.oneOf ?? known.anyOf ?? [];
  if (variant !== undefined) return exampleOf(variant, schemas, name);
  const type = Array.isArray(known.type) ? known.type[0] : known.type;
  const named = BY_NAME[name];
  if (named !== undefined && fits(named, known)) return named;
  if (known.format !== undefined) return BY_FORMAT[known.format] ?? BY_NAME.address;
  if (type === 'array') return [exampleOf(known.items ?? {}, schemas, name)];
  if (type === 'object') return objectExample(known, schemas);
  if (type === 'integer' || type === 'number') return known.minimum ?? 1;
  return type === 'boolean' ? true : type === 'null' ? null : 'example';
}

/**
 * Returns whether the example has the schema's type and format. An example is chosen by member name, and
 * members with the same name can have different types.
 */
function fits(value: unknown, { type, format }: Schema): boolean {
  const types = [type].flat();
  if (value === null) return types.includes('null');
  if (typeof value === 'number') return types.includes('integer') || types.includes('number');
  return types.includes('string') && (format === undefined || FORMATS[format]?.test(String(value)) === true);
}

function objectExample({ properties = {}, additionalProperties }: Schema, schemas: Record<string, unknown>) {
  const members = Object.entries(properties).map(([key, value]) => [key, exampleOf(value, schemas, key)]);
  if (members.length > 0 || typeof additionalProperties !== 'object') return Object.fromEntries(members);
  const isFree = Object.keys(additionalProperties).length === 0;
  return isFree ? {} : { [String(BY_NAME.id)]: exampleOf(additionalProperties, schemas) };
}
