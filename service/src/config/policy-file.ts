import { readFileSync } from 'node:fs';
import { type ChainName, chainFacts } from '../chain/chains.ts';
import type { OperatorKey } from '../operator/key.ts';
import { isKeyRole, KEY_ROLES, type KeyRole } from '../operator/role.ts';
import type { Source } from './read.ts';

type Policy = NonNullable<OperatorKey['policy']>;
type ChainPolicy = Policy extends ReadonlyMap<unknown, infer P> ? P : never;
type RolePolicy = Omit<ChainPolicy, 'roles'>;

export const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
export const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const AMOUNT = /^\d{1,78}$/;
const LIMITS = ['contracts', 'daily_fee', 'daily_amounts'];

/**
 * Reads `OPERATOR_POLICY_FILE`: a JSON object that maps each chain to its contracts and limits, or to a plain list of
 * contracts. If the file does not parse, the policy allows nothing.
 */
export function readPolicyFile({ read, problems }: Source): Policy | null {
  const file = read('OPERATOR_POLICY_FILE');
  if (file === null) return null;
  try {
    const chains = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>);
    return new Map(chains.map(([name, value]) => [networkOf(name), readChain(name, value)]));
  } catch {
    const problem =
      'OPERATOR_POLICY_FILE: must be a readable JSON file such as {"ethereum_mainnet": {"contracts": ["0x…"], "daily_fee": "2000000000000000000", "daily_amounts": {"0x…": "1000000000"}, "roles": {"refund": {"daily_amounts": {"0x…": "1000"}}}}}';
    if (!problems.includes(problem)) problems.push(problem);
    return new Map();
  }
}

function networkOf(name: string): number | string {
  return chainFacts(name as ChainName).chainId ?? name;
}

function readChain(name: string, value: unknown): ChainPolicy {
  const isEvm = chainFacts(name as ChainName).protocol === 'ethereum';
  const toAddress = (text: unknown): string => {
    if (!(isEvm ? EVM_ADDRESS : SOLANA_ADDRESS).test(String(text))) throw new Error('not an address');
    return isEvm ? String(text).toLowerCase() : String(text);
  };
  const members = (Array.isArray(value) ? { contracts: value } : value) as Record<string, unknown>;
  const { roles = {}, ...limits } = members;
  const chain = readLimits(toAddress, limits, null);
  const own = Object.entries(roles as Record<string, Record<string, unknown>>);
  if (own.some(([role]) => !isKeyRole(role))) throw new Error('unknown role');
  const readRole = (role: KeyRole): RolePolicy => {
    const { daily_permissions: permissions, ...rest } = own.find(([name]) => name === role)?.[1] ?? {};
    const policy = readLimits(toAddress, rest, chain);
    if (role !== 'supplier' && permissions !== undefined) throw new Error('only suppliers sign permissions');
    if (role !== 'supplier') return policy;
    // Permissions move no tokens, so only their number is limited.
    const dailyAmounts = permissions === undefined ? null : new Map([['permissions', toAmount(permissions)]]);
    return { ...policy, dailyAmounts };
  };
  // If a chain has daily amounts, a role can sign only amounts of the tokens listed there. The supplier signs
  // permissions, not token amounts, and could then sign nothing. So the supplier gets a policy without these daily
  // amounts.
  const isSpecial = (role: KeyRole) => role === 'supplier' && isEvm && chain.dailyAmounts !== null;
  const named = KEY_ROLES.filter((role) => own.some(([name]) => name === role) || isSpecial(role));
  if (named.length === 0) return chain;
  return { ...chain, roles: new Map(named.map((role) => [role, readRole(role)])) };
}

/** Reads contracts and limits. If a role omits a member, the chain's value applies. */
function readLimits(
  toAddress: (text: unknown) => string,
  members: Record<string, unknown>,
  chain: RolePolicy | null,
): RolePolicy {
  if (Object.keys(members).some((member) => !LIMITS.includes(member))) throw new Error('unknown member');
  const { contracts, daily_fee: fee, daily_amounts: amounts } = members;
  const isInherited = contracts === undefined && chain !== null;
  if (!isInherited && !Array.isArray(contracts)) throw new Error('not a list of addresses');
  const toLimits = (each: object) =>
    new Map(Object.entries(each).map(([token, amount]) => [toAddress(token), toAmount(amount)]));
  return {
    targets: isInherited ? chain.targets : new Set((contracts as unknown[]).map(toAddress)),
    dailyFee: fee === undefined ? (chain?.dailyFee ?? null) : toAmount(fee),
    dailyAmounts: amounts === undefined ? (chain?.dailyAmounts ?? null) : toLimits(amounts as object),
  };
}

function toAmount(text: unknown): bigint {
  if (typeof text !== 'string' || !AMOUNT.test(text)) throw new Error('not an amount');
  return BigInt(text);
}
