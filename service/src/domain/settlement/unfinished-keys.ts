import { EVM_CHAIN_NAMES, SOLANA_CHAIN_NAMES } from '../../kernel/chains.ts';
import type { Config } from '../../kernel/config/config.ts';
import { ROLE_OF_KIND, SENDING_ROLES, type SendingRole } from '../../kernel/config/role.ts';
import { plural } from '../../kernel/plural.ts';
import type { Chains } from '../../platform/chain/open-chains.ts';
import { findRemoteAddress } from '../../platform/operator/signers.ts';
import { solanaKeyFor } from '../../platform/operator/solana-signers.ts';
import type { UnfinishedKey } from '../../platform/operator/store.ts';

/**
 * Lists the chains for which this node has a key but no RPC URL. `hasEvmKey` returns whether the node has a key for a
 * role on an EVM chain.
 */
export function listUnfollowedChains(
  chains: Chains,
  config: Config,
  hasEvmKey: (role: SendingRole, chain: string) => boolean,
): string[] {
  const followed = new Set<string>([...chains.all(), ...chains.allSolana()].map(({ name }) => name));
  const sendsOn = (hasKey: (role: SendingRole, chain: string) => boolean) => (name: string) =>
    !followed.has(name) && SENDING_ROLES.some((role) => hasKey(role, name));
  return [
    ...EVM_CHAIN_NAMES.filter(sendsOn(hasEvmKey)),
    ...SOLANA_CHAIN_NAMES.filter(sendsOn((role, name) => solanaKeyFor(config, role, name) !== null)),
  ];
}

/** Returns whether `OPERATOR_KEYS_FILE` assigns the key to other nodes. */
export function isRemoteKey(
  config: Pick<Config, 'roleKeys'>,
  { chain, address }: Pick<UnfinishedKey, 'chain' | 'address'>,
): boolean {
  return SENDING_ROLES.some((role) => findRemoteAddress(config, role, chain) === address);
}

/** Returns the error message for a node that lacks the RPC URL of a chain on which the key has open transactions. */
export function describeUnfollowed({ chain, address, open }: UnfinishedKey): string {
  return `RPC_URL_${chain.toUpperCase()}: must stay set while ${address} has open transactions on ${chain} (${open}); remove it once none is open, or list the address in OPERATOR_KEYS_FILE if only other nodes have the key`;
}

/**
 * Returns whether the key may sign replacements for all of its unfinished transactions. `held` lists the key's roles.
 */
export function canFinish(
  { kinds }: UnfinishedKey,
  held: readonly { roles: readonly SendingRole[] }[],
): boolean {
  const used = kinds.flatMap((kind) => ROLE_OF_KIND[kind] ?? []);
  return held.length > 0 && used.every((role) => held.some(({ roles }) => roles.includes(role)));
}

/** Returns the error message for a node that cannot finish the transactions of a replaced key. */
export function describeUnlisted({ chain, address, count, kinds }: UnfinishedKey): string {
  return `OPERATOR_RETIRED_KEYS: must list the replaced operator key ${address}, which has ${plural(count, 'unfinished transaction')} (${kinds.join(', ')}) on ${chain}; add its private key or KMS key id, or restore its roles, or list its address in OPERATOR_KEYS_FILE if only other nodes have the key`;
}
