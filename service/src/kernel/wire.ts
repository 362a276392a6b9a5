import Type, { type Static, type TSchema } from 'typebox';

/** Wire primitives that all schemas are built from. */

export const CHAINS = [
  'ethereum_sepolia',
  'base_sepolia',
  'solana_devnet',
  'ethereum_mainnet',
  'base_mainnet',
  'solana_mainnet',
] as const;

export const EVM_CHAINS = ['ethereum_mainnet', 'ethereum_sepolia', 'base_mainnet', 'base_sepolia'] as const;

const MAX_UINT256 = 2n ** 256n - 1n;

/** String formats of the validator: a test, and the message for values that fail it. */
export const FORMATS: Record<string, { test: (value: string) => boolean; description: string }> = {
  uint256: { test: isUint256, description: 'must be an integer in decimal digits, from 0 to 2^256-1' },
  decimal: {
    test: (value) => /^(0|[1-9][0-9]{0,59})(\.[0-9]{1,18})?$/.test(value),
    description: 'must be a decimal number with at most 18 fraction digits',
  },
  'evm-address': {
    test: (value) => /^0x[0-9a-fA-F]{40}$/.test(value),
    description: 'must be 0x and 40 hexadecimal digits',
  },
  'solana-address': {
    test: (value) => /^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(value),
    description: 'must be 32 bytes in base58',
  },
  'solana-signature': {
    test: (value) => /^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(value),
    description: 'must be 64 bytes in base58',
  },
  'chain-address': {
    test: (value) => /^(0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/.test(value),
    description: 'must be 0x and 40 hexadecimal digits, or 32 bytes in base58 on Solana',
  },
  'transaction-hash': {
    test: (value) => /^0x[0-9a-fA-F]{64}$/.test(value),
    description: 'must be 0x and 64 hexadecimal digits',
  },
  'date-time': {
    test: isDateTime,
    description: 'must be an ISO 8601 date-time with a time zone, such as 2026-01-02T03:04:05Z',
  },
  uri: { test: (value) => URL.canParse(value), description: 'must be an absolute URI' },
  email: {
    test: (value) =>
      value.length <= 254 && /^[^\s@"<>()[\]\\,;:]+@[^\s@"<>()[\]\\,;:]+\.[^\s@."<>()[\]\\,;:]+$/.test(value),
    description: 'must be an email address',
  },
};

function isUint256(value: string): boolean {
  return /^(0|[1-9][0-9]{0,77})$/.test(value) && BigInt(value) <= MAX_UINT256;
}

/** `Date.parse` alone also accepts `1`, dates in prose and 30 February. */
function isDateTime(value: string): boolean {
  const match =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2})T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2})$/.exec(
      value,
    );
  if (match === null || Number.isNaN(Date.parse(value))) return false;
  const day = match[1] ?? '';
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

export const Chain = Type.Enum([...CHAINS], { title: 'Chain' });
export const EvmChain = Type.Enum([...EVM_CHAINS], { title: 'EvmChain' });
export const Uint256 = Type.String({ format: 'uint256', maxLength: 78, examples: ['1000000'] });
export const Decimal = Type.String({ format: 'decimal', maxLength: 79, examples: ['1000.5'] });
export const EvmAddress = Type.String({ format: 'evm-address', maxLength: 42 });
/** An address of any chain. Solana addresses are case-sensitive. */
export const ChainAddress = Type.String({ format: 'chain-address', maxLength: 44 });
export const Timestamp = Type.String({ format: 'date-time', examples: ['2026-01-02T03:04:05.678901Z'] });
export const Uri = Type.String({ format: 'uri', maxLength: 2048 });
export const Email = Type.String({ format: 'email', maxLength: 254 });

export type Chain = Static<typeof Chain>;
export type EvmChain = Static<typeof EvmChain>;

/** The schema of the `object` member, which names the type of every returned object. */
export function ObjectName<const Name extends string>(name: Name) {
  return Type.Literal(name);
}

/** The schema of `T` or null. For plain types it is not a union, so the serializer has no alternatives to try. */
export function Nullable<T extends TSchema>(schema: T) {
  const type = (schema as { type?: string }).type;
  const plain = typeof type === 'string' && type !== 'object' && type !== 'array';
  return Type.Unsafe<Static<T> | null>(
    plain ? { ...schema, type: [type, 'null'] } : { anyOf: [schema, { type: 'null' }] },
  );
}

/** The schema of an object with exactly these members. Others are rejected in requests and removed from replies. */
export function Closed<T extends Record<string, TSchema>>(
  properties: T,
  options: { title?: string; description?: string } = {},
) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** Formats microseconds since the epoch as a wire timestamp. */
export function toTimestamp(micros: number): string {
  const date = new Date(Math.floor(micros / 1000)).toISOString();
  return `${date.slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
}

/** Returns the current time to the millisecond, for comparisons; `clock.micros` is for ordering rows. */
export function timestampOf(clock: { now(): number }): string {
  return toTimestamp(Math.floor(clock.now()) * 1000);
}
