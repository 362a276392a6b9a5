import { readFileSync } from 'node:fs';
import { redactKeys } from './json-file.ts';
import type { OperatorKey, RetiredKey } from './operator-key.ts';
import { kmsKeyId, type Parser, privateKey, solanaKey } from './parsers.ts';
import { readPolicyFile } from './policy-file.ts';
import type { Source } from './read.ts';
import { SENDING_ROLES } from './role.ts';

/** Reads `OPERATOR_KEY`, `OPERATOR_KEY_FILE` or `OPERATOR_KMS_KEY`; null if none is set. */
export function readOperatorKey(source: Source): OperatorKey | null {
  return withLimits(source, readKey(source));
}

function readKey(source: Source): OperatorKey | null {
  const { read, problems } = source;
  const key = read('OPERATOR_KEY');
  const file = read('OPERATOR_KEY_FILE');
  const kmsKey = read('OPERATOR_KMS_KEY');
  if ([key, file, kmsKey].filter((value) => value !== null).length > 1)
    problems.push('OPERATOR_KEY: set only one of OPERATOR_KEY, OPERATOR_KEY_FILE and OPERATOR_KMS_KEY');
  if (kmsKey !== null) return readKmsKey(source, kmsKey);
  if (file !== null) return readKeyFile(source, 'OPERATOR_KEY_FILE', file);
  return key === null ? null : localKey(key);
}

/** Reads `SOLANA_OPERATOR_KEY`, `SOLANA_OPERATOR_KEY_FILE` or `SOLANA_OPERATOR_KMS_KEY`; null if none is set. */
export function readSolanaKey(source: Source): OperatorKey | null {
  return withLimits(source, readBareSolanaKey(source));
}

function readBareSolanaKey(source: Source): OperatorKey | null {
  const { read, problems } = source;
  const key = read('SOLANA_OPERATOR_KEY');
  const file = read('SOLANA_OPERATOR_KEY_FILE');
  const kmsKey = read('SOLANA_OPERATOR_KMS_KEY');
  if ([key, file, kmsKey].filter((value) => value !== null).length > 1)
    problems.push(
      'SOLANA_OPERATOR_KEY: set only one of SOLANA_OPERATOR_KEY, SOLANA_OPERATOR_KEY_FILE and SOLANA_OPERATOR_KMS_KEY',
    );
  if (kmsKey !== null) return readKmsKey(source, kmsKey);
  if (key !== null) return { kind: 'local', privateKey: key };
  return file === null ? null : readSolanaKeyFile(source, 'SOLANA_OPERATOR_KEY_FILE', file);
}

export function readSolanaKeyFile(
  { problems, isProduction }: Source,
  setting: string,
  file: string,
): OperatorKey | null {
  const text = readKeyText(problems, setting, file);
  if (text === null) return null;
  const parsed = solanaKey.parse(text, isProduction);
  if (parsed !== undefined) return { kind: 'local', privateKey: parsed };
  problems.push(
    `${setting}: must be a file that contains ${expectedOf(solanaKey, isProduction)}; ${redactKeys(file)} does not`,
  );
  return null;
}

/** Reads `SUPPLIER_KEY`; null if it is not set. */
export function readSupplierKey(source: Source): OperatorKey | null {
  const key = source.read('SUPPLIER_KEY');
  return key === null ? null : withLimits(source, localKey(key));
}

/**
 * Reads `OPERATOR_RETIRED_KEYS`. A prefix, as in `commit=KEY`, names the only role that the key had. A key without a
 * prefix had both roles.
 */
export function readRetiredKeys(source: Source): RetiredKey[] {
  const texts = source.read('OPERATOR_RETIRED_KEYS') ?? [];
  return texts.flatMap((text) => {
    const [, role, reference = ''] = /^(?:(commit|refund)=)?(.*)$/.exec(text) ?? [];
    const key = withLimits(source, readRetired(source, reference));
    return key === null ? [] : [{ key, roles: SENDING_ROLES.filter((each) => (role ?? each) === each) }];
  });
}

function readRetired(source: Source, text: string): OperatorKey | null {
  const key = privateKey.parse(text, source.isProduction);
  if (key !== undefined) return localKey(key);
  const keyId = text.startsWith('0x') ? undefined : kmsKeyId.parse(text, source.isProduction);
  if (keyId !== undefined) return readKmsKey(source, keyId);
  source.problems.push(
    'OPERATOR_RETIRED_KEYS: must be a comma-separated list of private keys (0x and 64 hexadecimal digits) or KMS key ids, each with an optional prefix "commit=" or "refund="',
  );
  return null;
}

/** Adds the settings that all keys share: the policy, and the folder that records what the keys have signed. */
export function withLimits(source: Source, key: OperatorKey | null): OperatorKey | null {
  if (key === null) return null;
  return { ...key, policy: readPolicyFile(source), spendFolder: source.read('OPERATOR_SPEND_DIR') };
}

export function readKeyFile(
  { problems, isProduction }: Source,
  setting: string,
  file: string,
): OperatorKey | null {
  const text = readKeyText(problems, setting, file);
  if (text === null) return null;
  const key = privateKey.parse(text, isProduction);
  if (key !== undefined) return localKey(key);
  problems.push(`${setting}: must contain ${expectedOf(privateKey, isProduction)}`);
  return null;
}

function readKeyText(problems: string[], setting: string, file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`;
    problems.push(`${setting}: must be a readable file; ${redactKeys(file)} ${reason}`);
    return null;
  }
}

function expectedOf({ expects }: Parser<unknown>, isProduction: boolean): string {
  return typeof expects === 'string' ? expects : expects(isProduction);
}

function localKey(key: string): OperatorKey {
  return { kind: 'local', privateKey: Buffer.from(key.slice(2), 'hex') };
}

export function readKmsKey({ read, problems }: Source, keyId: string): OperatorKey {
  const required = (name: 'AWS_REGION' | 'AWS_ACCESS_KEY_ID' | 'AWS_SECRET_ACCESS_KEY') => {
    const value = read(name);
    if (value === null) problems.push(`${name}: is required with a KMS key`);
    return value ?? '';
  };
  const region = required('AWS_REGION');
  const credentials = {
    accessKeyId: required('AWS_ACCESS_KEY_ID'),
    secretAccessKey: required('AWS_SECRET_ACCESS_KEY'),
    sessionToken: read('AWS_SESSION_TOKEN'),
  };
  return { kind: 'kms', key: { keyId, region, endpoint: read('OPERATOR_KMS_ENDPOINT'), credentials } };
}
