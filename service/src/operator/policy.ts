import type { Hex, TransactionSerializableEIP1559 } from 'viem';
import { slice, zeroAddress } from 'viem';
import { encodeRevoke } from '../chain/evm/allow-list.ts';
import { encodeRoleProbe } from '../chain/evm/sale-fund.ts';
import { Blocked } from './blocked.ts';
import type { Signer } from './signer.ts';

/** The contracts that the operator's key may call, by chain id; null allows any. */
export type SignerTargets = ReadonlyMap<number, ReadonlySet<Hex>> | null;

const batchSelectors: Hex[] = ['0xa524133b', '0xdc5d54f0', '0xfe5de983', '0x3cd1cdfa'];

/**
 * The functions that settlement calls: commits and refunds (single and batched, of both contract generations) and
 * revocations.
 */
const SELECTORS: ReadonlySet<Hex> = new Set([
  ...([1, 2] as const).flatMap((generation) =>
    (['commit', 'remit'] as const).map((role) => slice(encodeRoleProbe(role, zeroAddress, generation), 0, 4)),
  ),
  ...batchSelectors,
  slice(encodeRevoke(zeroAddress), 0, 4),
]);

/**
 * Returns a signer that signs only transactions within the policy, whatever the rest of the service requests: calls of
 * settlement functions on the listed contracts, without value, or an empty transfer to the key itself. Throws `Blocked`
 * otherwise.
 */
export function withPolicy(signer: Signer, targets: SignerTargets): Signer {
  const { address, signRequest, signMessage } = signer;
  return {
    ...{ address, signRequest, signMessage },
    signTransaction: async (transaction) => {
      const violation = findViolation(address, targets, transaction);
      if (violation !== null) throw new Blocked('signer_policy', `the signer refuses ${violation}`);
      return signer.signTransaction(transaction);
    },
  };
}

function findViolation(
  own: Hex,
  targets: SignerTargets,
  { chainId, to, data = '0x', value = 0n }: TransactionSerializableEIP1559,
): string | null {
  if (value !== 0n) return `a transaction with a value of ${value} wei`;
  const target = to?.toLowerCase() as Hex | undefined;
  if (target === undefined) return 'to deploy a contract';
  if (data === '0x') return target === own ? null : `an empty transfer to ${target}`;
  const selector = data.slice(0, 10).toLowerCase() as Hex;
  if (!SELECTORS.has(selector)) return `a call of ${selector}, which is not a function of settlement`;
  if (targets !== null && targets.get(chainId)?.has(target) !== true)
    return `a call of ${target} on chain ${chainId}, which OPERATOR_POLICY_FILE does not list`;
  return null;
}
