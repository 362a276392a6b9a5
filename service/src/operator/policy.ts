import type { Hex, TransactionSerializableEIP1559 } from 'viem';
import { slice, zeroAddress } from 'viem';
import { encodeRevoke } from '../chain/evm/allow-list.ts';
import { readMovedAmounts } from '../chain/evm/fund-amounts.ts';
import { encodeRoleProbe } from '../chain/evm/sale-fund.ts';
import { Blocked } from './blocked.ts';
import type { Signer } from './signer.ts';
import type { SpendLedger, SpendLimits } from './spend-ledger.ts';

/** What the keys may sign on one chain. */
export type ChainPolicy = SpendLimits & {
  /** The contracts that may be called; on Solana the funds and vaults. */
  targets: ReadonlySet<string>;
};

/** By EVM chain id, or `solana`. Null allows any target on any chain, without limits. */
export type SignerPolicy = ReadonlyMap<number | 'solana', ChainPolicy> | null;

const REVOKE: Hex = slice(encodeRevoke(zeroAddress), 0, 4);
const batchSelectors: Hex[] = ['0xa524133b', '0xdc5d54f0', '0xfe5de983', '0x3cd1cdfa'];

/**
 * The functions that settlement calls: commits and refunds (single and batched, of both contract generations), and
 * revocations of allow-list entries.
 */
const SELECTORS: ReadonlySet<Hex> = new Set([
  ...([1, 2] as const).flatMap((generation) =>
    (['commit', 'remit'] as const).map((role) => slice(encodeRoleProbe(role, zeroAddress, generation), 0, 4)),
  ),
  ...batchSelectors,
  REVOKE,
]);

/**
 * Returns a signer that signs only transactions within the policy, whatever the rest of the service requests. Within
 * the policy are calls of settlement functions on the listed contracts, without value and within the daily limits, and
 * empty transfers to the key itself. Throws `Blocked` otherwise.
 */
export function withPolicy(signer: Signer, policy: SignerPolicy, ledger: SpendLedger): Signer {
  const { address, signRequest, signMessage } = signer;
  return {
    ...{ address, signRequest, signMessage },
    signTransaction: async (transaction) => {
      const violation = findViolation(address, policy, transaction);
      if (violation !== null) throw new Blocked('signer_policy', `the signer refuses ${violation}`);
      const limits = policy?.get(transaction.chainId);
      if (limits !== undefined) reserve(ledger, address, limits, transaction);
      return signer.signTransaction(transaction);
    },
  };
}

/**
 * Only one of several transactions with the same nonce can be mined, so a replacement counts only the additional cost.
 */
function reserve(
  ledger: SpendLedger,
  address: Hex,
  limits: SpendLimits,
  { chainId, nonce, gas = 0n, maxFeePerGas = 0n, data = '0x' }: TransactionSerializableEIP1559,
): void {
  const amounts = readMovedAmounts(data) ?? new Map<string, bigint>();
  const key = `${address} on chain ${chainId}`;
  ledger.reserve({ key, id: String(nonce), fee: gas * maxFeePerGas, amounts }, limits);
}

function findViolation(
  own: Hex,
  policy: SignerPolicy,
  { chainId, to, data = '0x', value = 0n }: TransactionSerializableEIP1559,
): string | null {
  if (value !== 0n) return `a transaction with a value of ${value} wei`;
  const target = to?.toLowerCase() as Hex | undefined;
  if (target === undefined) return 'to deploy a contract';
  if (data === '0x') return target === own ? null : `an empty transfer to ${target}`;
  const selector = data.slice(0, 10).toLowerCase() as Hex;
  if (!SELECTORS.has(selector)) return `a call of ${selector}, which is not a function of settlement`;
  if (selector !== REVOKE && readMovedAmounts(data) === null) return 'a call whose amounts cannot be read';
  if (policy !== null && policy.get(chainId)?.targets.has(target) !== true)
    return `a call of ${target} on chain ${chainId}, which OPERATOR_POLICY_FILE does not list`;
  return null;
}
