import { CHAIN_NAMES, SOLANA_CHAIN_NAMES } from '../chains.ts';
import { InvalidMember, readJsonFile, toObject } from './json-file.ts';
import type { OperatorKey, RoleKey } from './operator-key.ts';
import { readKeyFile, readKmsKey, readSolanaKeyFile, withLimits } from './operator-settings.ts';
import { kmsKeyId } from './parsers.ts';
import { EVM_ADDRESS, SOLANA_ADDRESS } from './policy-file.ts';
import type { Source } from './read.ts';
import { isKeyRole, KEY_ROLES, SENDING_ROLES } from './role.ts';

const SETTING = 'OPERATOR_KEYS_FILE';

/**
 * Reads `OPERATOR_KEYS_FILE`, a JSON object that assigns keys to roles. A role at the top level applies to all EVM
 * chains. A role inside a chain applies to that chain. Each role specifies a key file or a KMS key, or just the key's
 * address if only other nodes have the key. The JSON file itself holds no secrets. If the file is invalid, the process
 * does not start.
 */
export function readRoleKeys(source: Source): RoleKey[] {
  const file = source.read(SETTING);
  if (file === null) return [];
  try {
    const members = entriesOf(readJsonFile(file));
    return members.flatMap(([name, value]) =>
      isKeyRole(name)
        ? readRole(source, name, null, value)
        : entriesOf(value).flatMap(([role, key]) => readRole(source, role, chainOf(name), key)),
    );
  } catch (error) {
    if (!(error instanceof InvalidMember)) throw error;
    source.problems.push(
      `${SETTING}: must be a readable JSON file such as {"refund": {"kms": "alias/refund"}, "base_mainnet": {"commit": {"file": "/run/secrets/commit"}}}; ${error.message}`,
    );
    return [];
  }
}

function readRole(source: Source, role: string, chain: string | null, value: unknown): RoleKey[] {
  if (!isKeyRole(role))
    throw new InvalidMember(`${role} is neither a role (${KEY_ROLES.join(', ')}) nor a chain`);
  const [[member = '', reference] = [], ...more] = entriesOf(value);
  if (more.length > 0 || typeof reference !== 'string' || reference === '')
    throw new InvalidMember(`${role} must have exactly one of "file", "kms" and "address"`);
  const isSolana = SOLANA_CHAIN_NAMES.some((name) => name === chain);
  if (isSolana && !SENDING_ROLES.some((each) => each === role))
    throw new InvalidMember(`${role} is not a role on ${chain}`);
  if (member === 'address')
    return [{ role, chain, key: null, address: readAddress(role, isSolana, reference) }];
  const readFile = isSolana ? readSolanaKeyFile : readKeyFile;
  const key = withLimits(source, openReference(source, readFile, member, reference));
  return key === null ? [] : [{ role, chain, key }];
}

function openReference(
  source: Source,
  readFile: typeof readKeyFile,
  member: string,
  reference: string,
): OperatorKey | null {
  if (member === 'file') return readFile(source, SETTING, reference);
  if (member === 'kms') {
    if (kmsKeyId.parse(reference, source.isProduction) === undefined)
      throw new InvalidMember(`"kms" must be ${kmsKeyId.expects}`);
    return readKmsKey(source, reference);
  }
  throw new InvalidMember(`${member} is not one of "file", "kms" and "address"`);
}

/** Reads the address of a key that only other nodes have. */
function readAddress(role: string, isSolana: boolean, address: string): string {
  if (!SENDING_ROLES.some((each) => each === role))
    throw new InvalidMember(`${role} must have "file" or "kms", because every node signs in this role`);
  if (!(isSolana ? SOLANA_ADDRESS : EVM_ADDRESS).test(address))
    throw new InvalidMember(`the address of ${role} is invalid`);
  return isSolana ? address : address.toLowerCase();
}

function chainOf(name: string): string {
  if (CHAIN_NAMES.some((chain) => chain === name)) return name;
  throw new InvalidMember(`${name} is neither a role nor a chain`);
}

function entriesOf(value: unknown): [string, unknown][] {
  return Object.entries(toObject('every member must be an object', value));
}
