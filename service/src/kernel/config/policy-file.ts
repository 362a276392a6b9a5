import { CHAIN_NAMES, type ChainName, chainFacts } from '../chains.ts';
import { InvalidMember, readJsonFile, toObject } from './json-file.ts';
import type { OperatorKey } from './operator-key.ts';
import type { Source } from './read.ts';
import { isKeyRole, KEY_ROLES, type KeyRole } from './role.ts';

type Policy = NonNullable<OperatorKey['policy']>;
type ChainPolicy = Policy extends ReadonlyMap<unknown, infer P> ? P : never;
type RolePolicy = Omit<ChainPolicy, 'roles'>;

export const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
export const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const AMOUNT = /^\d{1,78}$/;
const LIMITS = ['contracts', 'daily_fee', 'daily_amounts'];

/**
 * Reads `OPERATOR_POLICY_FILE`: a JSON object that maps each chain to its contracts and limits, or to a plain list of
 * contracts. If the file is invalid, the policy allows nothing.
 */
export function readPolicyFile({ read, problems }: Source): Policy | null {
  const file = read('OPERATOR_POLICY_FILE');
  if (file === null) return null;
  try {
    const chains = Object.entries(toObject('the file must contain an object', readJsonFile(file)));
    return new Map(chains.map(([name, value]) => [networkOf(name), readChain(name, value)]));
  } catch (error) {
    if (!(error instanceof InvalidMember)) throw error;
    const problem = `OPERATOR_POLICY_FILE: must be a readable JSON file such as {"ethereum_mainnet": {"contracts": ["0x…"], "daily_fee": "2000000000000000000", "daily_amounts": {"0x…": "1000000000"}, "roles": {"refund": {"daily_amounts": {"0x…": "1000"}}}}}; ${error.message}`;
    if (!problems.includes(problem)) problems.push(problem);
    return new Map();
  }
}

function networkOf(name: string): number | string {
  if (!CHAIN_NAMES.some((chain) => chain === name)) throw new InvalidMember(`${name} is not a chain`);
  return chainFacts(name as ChainName).chainId ?? name;
}

function readChain(name: string, value: unknown): ChainPolicy {
  const isEvm = chainFacts(name as ChainName).protocol === 'ethereum';
  const toAddress = (problem: string, text: unknown): string => {
    if (!(isEvm ? EVM_ADDRESS : SOLANA_ADDRESS).test(String(text))) throw new InvalidMember(problem);
    return isEvm ? String(text).toLowerCase() : String(text);
  };
  const { roles = {}, ...limits } = Array.isArray(value)
    ? { contracts: value }
    : toObject(`${name} must be an object or a list of contracts`, value);
  const chain = readLimits(toAddress, name, limits, null);
  const own = Object.entries(toObject(`${name}.roles must be an object`, roles));
  const unknown = own.find(([role]) => !isKeyRole(role));
  if (unknown !== undefined)
    throw new InvalidMember(`${name}.roles.${unknown[0]} is not one of ${KEY_ROLES.join(', ')}`);
  const readRole = (role: KeyRole): RolePolicy => {
    const path = `${name}.roles.${role}`;
    const [, members] = own.find(([each]) => each === role) ?? [role, {}];
    const { daily_permissions: permissions, ...rest } = toObject(`${path} must be an object`, members);
    const policy = readLimits(toAddress, path, rest, chain);
    if (role !== 'supplier' && permissions !== undefined)
      throw new InvalidMember(`${path}.daily_permissions is allowed only for the supplier role`);
    if (role !== 'supplier') return policy;
    // Permissions move no tokens, so only their number is limited.
    const problem = `${path}.daily_permissions must be a string of digits: the number of permissions per day`;
    const dailyAmounts =
      permissions === undefined ? null : new Map([['permissions', toAmount(problem, permissions)]]);
    return { ...policy, dailyAmounts };
  };
  // If a chain has daily amounts, the limit is zero for everything that they do not list. They list only tokens, so the
  // supplier could not sign any permissions. The supplier therefore gets a policy without daily amounts of tokens.
  const isSpecial = (role: KeyRole) => role === 'supplier' && isEvm && chain.dailyAmounts !== null;
  const named = KEY_ROLES.filter((role) => own.some(([name]) => name === role) || isSpecial(role));
  if (named.length === 0) return chain;
  return { ...chain, roles: new Map(named.map((role) => [role, readRole(role)])) };
}

/** Reads contracts and limits. If a role omits a member, the chain's value applies. */
function readLimits(
  toAddress: (problem: string, text: unknown) => string,
  path: string,
  members: Record<string, unknown>,
  chain: RolePolicy | null,
): RolePolicy {
  const unknown = Object.keys(members).find((member) => !LIMITS.includes(member));
  if (unknown !== undefined) throw new InvalidMember(`${path}.${unknown} is unknown`);
  const { contracts, daily_fee: fee, daily_amounts: amounts } = members;
  const readContracts = () => {
    if (!Array.isArray(contracts)) throw new InvalidMember(`${path}.contracts must be a list of addresses`);
    return new Set(
      contracts.map((each, index) => toAddress(`${path}.contracts[${index}] must be an address`, each)),
    );
  };
  const readAmount = (member: string, text: unknown) =>
    toAmount(`${path}.${member} must be an amount in smallest units, as a string`, text);
  const readAmounts = () => {
    const tokens = Object.entries(toObject(`${path}.daily_amounts must be an object`, amounts));
    const problem = `${path}.daily_amounts must have token addresses as keys`;
    return new Map(
      tokens.map(([token, amount]) => [
        toAddress(problem, token),
        readAmount(`daily_amounts.${token}`, amount),
      ]),
    );
  };
  return {
    targets: contracts === undefined && chain !== null ? chain.targets : readContracts(),
    dailyFee: fee === undefined ? (chain?.dailyFee ?? null) : readAmount('daily_fee', fee),
    dailyAmounts: amounts === undefined ? (chain?.dailyAmounts ?? null) : readAmounts(),
  };
}

function toAmount(problem: string, text: unknown): bigint {
  if (typeof text !== 'string' || !AMOUNT.test(text)) throw new InvalidMember(problem);
  return BigInt(text);
}
