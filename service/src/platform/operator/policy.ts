import type { Hex, TransactionSerializableEIP1559 } from 'viem';
import { slice, zeroAddress } from 'viem';
import type { ChainPolicy, RolePolicy, SignerPolicy } from '../../kernel/config/operator-key.ts';
import type { KeyRole, SendingRole } from '../../kernel/config/role.ts';
import { encodeRevoke } from '../chain/evm/allow-list.ts';
import { isFundCall, readFundCall } from '../chain/evm/sale-fund.ts';
import { Blocked } from './blocked.ts';
import type { Signer } from './signer.ts';
import type { SpendLedger } from './spend-ledger.ts';
import { judgePermission, judgeRequest, type TypedDataRules } from './typed-data-policy.ts';

export type SignerRules = TypedDataRules & {
  policy: SignerPolicy;
  ledger: SpendLedger;
  hasRole(role: KeyRole, chainId: number): boolean;
};

const REVOKE: Hex = slice(encodeRevoke(zeroAddress), 0, 4);

export function policyOf<P extends ChainPolicy | undefined>(policy: P, role: KeyRole): RolePolicy | P {
  return policy?.roles?.get(role) ?? policy;
}

/**
 * Returns a signer that enforces the key's rules, whatever the rest of the service requests. The signer signs only:
 * - calls without value to listed contracts, if the function belongs to one of the key's roles
 * - empty transfers to the key itself
 * - the typed data that `typed-data-policy.ts` allows
 *
 * For everything else, it throws `Blocked`. Every signature counts against the daily limits of its role.
 */
export function withPolicy(signer: Signer, rules: SignerRules): Signer {
  const { address } = signer;
  return {
    address,
    signTransaction: async (transaction) => {
      const role = judgeTransaction(address, rules, transaction);
      reserve(address, rules, role, transaction);
      return signer.signTransaction(transaction);
    },
    signRequest: async (domain, request) => {
      const { chainId, verifyingContract } = domain;
      const spending = judgeRequest(rules, domain, request);
      const { limits } = assertMay(rules, 'quote', chainId, verifyingContract);
      if (limits !== undefined) rules.ledger.reserve(spending, limits);
      return signer.signRequest(domain, request);
    },
    signPermission: async (domain, permission) => {
      const { chainId, verifyingContract } = domain;
      const spending = judgePermission(rules, domain, permission);
      const { limits } = assertMay(rules, 'supplier', chainId, verifyingContract);
      if (limits !== undefined) rules.ledger.reserve(spending, limits);
      return signer.signPermission(domain, permission);
    },
  };
}

function judgeTransaction(
  own: Hex,
  rules: SignerRules,
  { chainId, to, data = '0x', value = 0n, accessList, authorizationList, blobs }: AnyTransaction,
): SendingRole {
  if (value !== 0n) throw refusal(`a transaction with a value of ${value} wei`);
  if (accessList !== undefined || authorizationList !== undefined || blobs !== undefined)
    throw refusal('a transaction with an access list, an authorization or blobs');
  const target = to?.toLowerCase() as Hex | undefined;
  if (target === undefined) throw refusal('to deploy a contract');
  if (data === '0x') {
    const role = (['commit', 'refund'] as const).find((each) => rules.hasRole(each, chainId));
    if (role === undefined)
      throw refusal(`to sign on chain ${chainId}, because the key sends no transactions there`);
    if (target !== own) throw refusal(`an empty transfer to ${target}`);
    return role;
  }
  const role = roleOf(data);
  assertMay(rules, role, chainId, target);
  return role;
}

type AnyTransaction = TransactionSerializableEIP1559 & { authorizationList?: unknown; blobs?: unknown };

function roleOf(data: Hex): SendingRole {
  const selector = data.slice(0, 10).toLowerCase();
  if (selector === REVOKE) {
    if (data.length !== encodeRevoke(zeroAddress).length) throw refusal('a revocation of unexpected length');
    return 'commit';
  }
  if (!isFundCall(selector)) throw refusal(`a call to ${selector}, which is not a settlement function`);
  const call = readFundCall(data);
  if (call === null) throw refusal('a call with unreadable amounts');
  return call.functionName === 'commit' ? 'commit' : 'refund';
}

function assertMay(
  { policy, hasRole }: SignerRules,
  role: KeyRole,
  chainId: number,
  contract: string,
): { limits: RolePolicy | undefined } {
  if (!hasRole(role, chainId))
    throw refusal(`to act as the ${role} key on chain ${chainId}, because it does not have that role`);
  const limits = policyOf(policy?.get(chainId), role);
  if (policy !== null && limits?.targets.has(contract.toLowerCase()) !== true)
    throw refusal(
      `a ${role} signature for ${contract.toLowerCase()} on chain ${chainId}, which OPERATOR_POLICY_FILE does not list`,
    );
  return { limits };
}

/**
 * Of several transactions with the same nonce, at most one is mined, so a replacement reserves only the extra cost.
 */
function reserve(
  address: Hex,
  { policy, ledger }: SignerRules,
  role: SendingRole,
  { chainId, nonce, gas = 0n, maxFeePerGas = 0n, data = '0x' }: TransactionSerializableEIP1559,
): void {
  const limits = policyOf(policy?.get(chainId), role);
  if (limits === undefined) return;
  const amounts = readFundCall(data)?.amounts ?? new Map<string, bigint>();
  const key = `${role} on chain ${chainId}`;
  ledger.reserve({ key, id: `${address} ${nonce}`, fee: gas * maxFeePerGas, amounts }, limits);
}

function refusal(what: string): Blocked {
  return new Blocked('signer_policy', `the signer refuses ${what}`);
}
