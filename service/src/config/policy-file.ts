import { readFileSync } from 'node:fs';
import { type ChainName, chainFacts } from '../chain/chains.ts';
import type { OperatorKey } from '../operator/key.ts';
import type { Source } from './read.ts';

type Policy = NonNullable<OperatorKey['policy']>;
type ChainPolicy = Policy extends ReadonlyMap<unknown, infer P> ? P : never;

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const AMOUNT = /^\d{1,78}$/;
const MEMBERS = ['contracts', 'daily_fee', 'daily_amounts'];

/**
 * Reads `OPERATOR_POLICY_FILE`: a JSON object that maps each chain to its contracts and limits, or to a plain list of
 * contracts. If the file does not parse, the policy allows nothing.
 */
export function readPolicyFile({ read, problems }: Source): Policy | null {
  const file = read('OPERATOR_POLICY_FILE');
  if (file === null) return null;
  try {
    const chains = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>);
    const policy = new Map(chains.map(([name, value]) => [networkOf(name), readChain(name, value)]));
    if (policy.size !== chains.length) throw new Error('one key signs for all Solana clusters');
    return policy;
  } catch {
    problems.push(
      'OPERATOR_POLICY_FILE: must be a readable JSON file such as {"ethereum_mainnet": {"contracts": ["0x…"], "daily_fee": "2000000000000000000", "daily_amounts": {"0x…": "1000000000"}}}, with one Solana cluster at most',
    );
    return new Map();
  }
}

function networkOf(name: string): number | 'solana' {
  return chainFacts(name as ChainName).chainId ?? 'solana';
}

function readChain(name: string, value: unknown): ChainPolicy {
  const isEvm = chainFacts(name as ChainName).protocol === 'ethereum';
  const toAddress = (text: unknown): string => {
    if (!(isEvm ? EVM_ADDRESS : SOLANA_ADDRESS).test(String(text))) throw new Error('not an address');
    return isEvm ? String(text).toLowerCase() : String(text);
  };
  const members = (Array.isArray(value) ? { contracts: value } : value) as Record<string, unknown>;
  if (Object.keys(members).some((member) => !MEMBERS.includes(member))) throw new Error('unknown member');
  const { contracts, daily_fee: fee, daily_amounts: amounts } = members;
  if (!Array.isArray(contracts)) throw new Error('not a list of addresses');
  return {
    targets: new Set(contracts.map(toAddress)),
    dailyFee: fee === undefined ? null : toAmount(fee),
    dailyAmounts:
      amounts === undefined
        ? null
        : new Map(
            Object.entries(amounts as object).map(([token, each]) => [toAddress(token), toAmount(each)]),
          ),
  };
}

function toAmount(text: unknown): bigint {
  if (typeof text !== 'string' || !AMOUNT.test(text)) throw new Error('not an amount');
  return BigInt(text);
}
