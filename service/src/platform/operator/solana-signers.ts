import type { Registry } from 'prom-client';
import { SOLANA_CHAIN_NAMES, type SolanaChainName } from '../../kernel/chains.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type Config, ConfigError } from '../../kernel/config/config.ts';
import type { ChainPolicy, OperatorKey } from '../../kernel/config/operator-key.ts';
import { SENDING_ROLES, type SendingRole } from '../../kernel/config/role.ts';
import type { Log } from '../../kernel/log.ts';
import { watchRefusals } from './refusals.ts';
import { findRoleKey } from './signers.ts';
import { assertSolanaPolicy, type SolanaRules } from './solana-policy.ts';
import { openSolanaKey, type SolanaSigner } from './solana-signer.ts';
import { openSpendLedger } from './spend-ledger.ts';

/** Null if this process has no key for that role on that cluster. */
export type SolanaSignerOf = (role: SendingRole, chain: string) => SolanaSigner | null;

type SolanaKeys = Pick<Config, 'solanaKey' | 'roleKeys' | 'rpcUrls'>;

/** `registry` counts refusals and `log` records them. Commands need neither, because they print refusals. */
type Parts = { clock: Clock; log?: Log; registry?: Registry };

type HeldKey = { key: OperatorKey; signer: SolanaSigner; clusters: Map<SolanaChainName, SendingRole[]> };

const NOTHING: ChainPolicy = { targets: new Set(), dailyFee: null, dailyAmounts: null };

export function solanaKeyFor(
  { roleKeys, solanaKey }: Pick<SolanaKeys, 'solanaKey' | 'roleKeys'>,
  role: SendingRole,
  chain: string,
): OperatorKey | null {
  const own = findRoleKey(roleKeys, role, chain);
  return own === undefined ? solanaKey : own.key;
}

/** Throws `ConfigError` if a key's policy on one cluster could be evaded by signing for another; see `rulesOf`. */
export async function openSolanaSigners(keys: SolanaKeys, parts: Parts): Promise<SolanaSignerOf> {
  const held = await holdKeys(keys, parts);
  const [first] = held.values();
  // All signers share one ledger, because a limit applies to a role, and several keys can have the same role.
  const ledger = openSpendLedger(first?.key.spendFolder ?? null, parts.clock);
  const guarded = new Map([...held].map(([address, each]) => [address, guard(each, ledger, parts)]));
  return (role, chain) => {
    const found = [...held.values()].find(({ clusters }) =>
      clusters.get(chain as SolanaChainName)?.includes(role),
    );
    return found === undefined ? null : (guarded.get(found.signer.address) ?? null);
  };
}

async function holdKeys(keys: SolanaKeys, { clock, registry }: Parts): Promise<Map<string, HeldKey>> {
  const opened = new Map<OperatorKey, SolanaSigner>();
  const held = new Map<string, HeldKey>();
  for (const chain of SOLANA_CHAIN_NAMES.filter((name) => keys.rpcUrls[name] !== undefined))
    for (const role of SENDING_ROLES) {
      const key = solanaKeyFor(keys, role, chain);
      if (key === null) continue;
      const signer = opened.get(key) ?? (await openSolanaKey(key, clock, registry));
      opened.set(key, signer);
      const own = held.get(signer.address) ?? { key, signer, clusters: new Map() };
      own.clusters.set(chain, [...(own.clusters.get(chain) ?? []), role]);
      held.set(signer.address, own);
    }
  return held;
}

function guard(held: HeldKey, ledger: SolanaRules['ledger'], { log, registry }: Parts): SolanaSigner {
  const { address, signTransaction } = held.signer;
  const rules = { ...rulesOf(held), ledger };
  const watch =
    log === undefined || registry === undefined
      ? <T>(signing: Promise<T>) => signing
      : watchRefusals({ log, registry }, address);
  return {
    address,
    signTransaction: (message, assertAllowed) =>
      watch(
        signTransaction(message, (bytes) => {
          assertAllowed(bytes);
          assertSolanaPolicy(address, rules, bytes);
        }),
      ),
  };
}

/**
 * Returns the rules for a key. A signed message does not name its cluster, so a message for one cluster could be sent
 * to another. A key that is used on several clusters must therefore have the same roles on all of them. The policy file
 * may list at most one of these clusters; the policy of that cluster then applies to all of them. If a policy file
 * lists none of them, the key may not transfer any tokens.
 */
function rulesOf({ key, signer: { address }, clusters }: HeldKey): Omit<SolanaRules, 'ledger'> {
  const names = [...clusters.keys()];
  const [roles = [], ...others] = clusters.values();
  const listed = names.filter((name) => key.policy?.has(name));
  if (others.some((each) => each.join() !== roles.join()))
    throw new ConfigError([
      `OPERATOR_KEYS_FILE: the key ${address} has different roles on ${names.join(' and ')}, but a signature for one cluster is valid on the other; configure a different key on one of these clusters`,
    ]);
  if (listed.length > 1)
    throw new ConfigError([
      `OPERATOR_POLICY_FILE: lists ${listed.join(' and ')}, but the key ${address} signs on both, and a signature for one cluster is valid on the other; configure a different key on one of these clusters in OPERATOR_KEYS_FILE`,
    ]);
  const [cluster = names[0] ?? ''] = listed;
  const policy = key.policy == null ? null : (key.policy.get(cluster) ?? NOTHING);
  return { roles, cluster, policy };
}
