import type { Registry } from 'prom-client';
import type { Hex } from 'viem';
import { CHAIN_FACTS, EVM_CHAIN_NAMES } from '../../kernel/chains.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { OperatorKey, RetiredKey, RoleKey } from '../../kernel/config/operator-key.ts';
import { KEY_ROLES, type KeyRole, SENDING_ROLES, type SendingRole } from '../../kernel/config/role.ts';
import type { Log } from '../../kernel/log.ts';
import { openKey } from './key.ts';
import { withPolicy } from './policy.ts';
import { watchRefusals } from './refusals.ts';
import type { Signer } from './signer.ts';
import { openSpendLedger } from './spend-ledger.ts';

/** Returns the signer of a role on an EVM chain, or null if this process has no key for that role on that chain. */
export type SignerOf = (role: KeyRole, chain: string) => Signer | null;

/** A retired key, and the roles in which it may still sign replacements of its own transactions. */
export type RetiredSigner = { signer: Signer; roles: readonly SendingRole[] };

export type Signers = { signerOf: SignerOf; retired: RetiredSigner[] };

export type SigningKeys = {
  operatorKey: OperatorKey | null;
  supplierKey: OperatorKey | null;
  roleKeys: readonly RoleKey[];
  retiredKeys: readonly RetiredKey[];
};

type Parts = { clock: Clock; log: Log; registry: Registry };

/**
 * The role's key for this chain, else for all chains, else the operator key. `supplier` falls back to `supplierKey`
 * instead, because contracts know the supplier by a separate address.
 */
export function keyFor(keys: SigningKeys, role: KeyRole, chain: string): OperatorKey | null {
  const own = findRoleKey(keys.roleKeys, role, chain);
  if (own !== undefined) return own.key;
  return role === 'supplier' ? keys.supplierKey : keys.operatorKey;
}

/** An entry without a chain applies to EVM chains only. */
export function findRoleKey(roleKeys: readonly RoleKey[], role: KeyRole, chain: string): RoleKey | undefined {
  const own = (name: string | null) => roleKeys.find((each) => each.role === role && each.chain === name);
  return own(chain) ?? (EVM_CHAIN_NAMES.some((name) => name === chain) ? own(null) : undefined);
}

/** Null unless `OPERATOR_KEYS_FILE` says that only other nodes have the key. */
export function findRemoteAddress(
  { roleKeys }: Pick<SigningKeys, 'roleKeys'>,
  role: KeyRole,
  chain: string,
): string | null {
  const own = findRoleKey(roleKeys, role, chain);
  return own?.key === null ? own.address : null;
}

/**
 * A key with several roles is opened once. It signs only in the roles that it has on a chain, and only what its
 * policy allows. Retired keys keep their roles, to sign replacements of their own transactions.
 */
export async function openSigners(keys: SigningKeys, parts: Parts): Promise<Signers> {
  const opened = new Map<OperatorKey, Signer>();
  const rights = new Map<Hex, Set<string>>();
  const open = async (key: OperatorKey): Promise<Signer> => {
    const signer = opened.get(key) ?? (await openKey(key, parts.clock, parts.registry));
    opened.set(key, signer);
    return signer;
  };
  const grant = ({ address }: Signer, role: KeyRole, chainId: number) =>
    rights.set(address, (rights.get(address) ?? new Set()).add(`${role} ${chainId}`));
  const assigned = new Map<string, Signer>();
  for (const chain of EVM_CHAIN_NAMES) {
    const { chainId } = CHAIN_FACTS[chain];
    for (const role of KEY_ROLES) {
      const key = keyFor(keys, role, chain);
      if (key === null) continue;
      const signer = await open(key);
      assigned.set(`${role} ${chain}`, signer);
      grant(signer, role, chainId);
    }
    for (const { key, roles } of keys.retiredKeys)
      for (const role of roles) grant(await open(key), role, chainId);
  }
  const [first] = opened.keys();
  // All signers share one ledger, because a limit applies to a role, and several keys can have the same role.
  const ledger = openSpendLedger(first?.spendFolder ?? null, parts.clock);
  const guarded = new Map<Hex, Signer>();
  for (const [key, signer] of opened) {
    const hasRole = (role: KeyRole, chainId: number) =>
      rights.get(signer.address)?.has(`${role} ${chainId}`) === true;
    const rules = { policy: key.policy ?? null, ledger, hasRole, clock: parts.clock };
    guarded.set(signer.address, reportRefusals(parts, withPolicy(signer, rules)));
  }
  const guard = (signer: Signer | undefined) =>
    signer === undefined ? null : (guarded.get(signer.address) ?? null);
  return {
    signerOf: (role, chain) => guard(assigned.get(`${role} ${chain}`)),
    retired: keys.retiredKeys.flatMap(({ key, roles }) => {
      const signer = guard(opened.get(key));
      return signer === null ? [] : [{ signer, roles }];
    }),
  };
}

export function listSenders<S extends { address: string }>(
  signerOf: (role: SendingRole, chain: string) => S | null,
  chain: string,
): { signer: S; roles: SendingRole[] }[] {
  const senders = new Map<string, { signer: S; roles: SendingRole[] }>();
  for (const role of SENDING_ROLES) {
    const signer = signerOf(role, chain);
    if (signer === null) continue;
    const sender = senders.get(signer.address) ?? { signer, roles: [] };
    sender.roles.push(role);
    senders.set(signer.address, sender);
  }
  return [...senders.values()];
}

function reportRefusals(parts: Parts, { address, ...methods }: Signer): Signer {
  const watch = watchRefusals(parts, address);
  return {
    address,
    signTransaction: (transaction) => watch(methods.signTransaction(transaction)),
    signRequest: (domain, request) => watch(methods.signRequest(domain, request)),
    signPermission: (domain, permission) => watch(methods.signPermission(domain, permission)),
  };
}
