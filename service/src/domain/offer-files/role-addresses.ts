import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { hexToBytes } from 'viem/utils';
import { EVM_CHAIN_NAMES, SOLANA_CHAIN_NAMES } from '../../kernel/chains.ts';
import type { OperatorKey } from '../../kernel/config/operator-key.ts';
import { KEY_ROLES, type KeyRole, SENDING_ROLES } from '../../kernel/config/role.ts';
import { deriveSandboxKey } from '../../kernel/config/sandbox-keys.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { Context } from '../../platform/context/context.ts';
import { readKeyAddress } from '../../platform/operator/key.ts';
import { listKeyStates } from '../../platform/operator/key-state-store.ts';
import { findRemoteAddress, keyFor } from '../../platform/operator/signers.ts';
import { localSolanaSigner, openSolanaKey } from '../../platform/operator/solana-signer.ts';
import { solanaKeyFor } from '../../platform/operator/solana-signers.ts';
import { listOperators } from '../../platform/operator/status.ts';
import type { CheckParts } from './contract-checks.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'config'>;

const NAMED = /^(?:(commit|refund|quote|supplier)=)?(0x[0-9a-fA-F]{40})$/;

/**
 * Finds, for each role, the address that must have it on the contracts. On EVM chains, the first that is known of:
 * the address in `named` (`[ROLE=]ADDRESS`), the configured key's, the operator address that the nodes of this
 * database have used (not for `supplier`), the sandbox key's. If the nodes have used several addresses, throws if
 * `named` is empty, otherwise treats the address as unknown. Works without private keys, too.
 */
export async function findKeyAddresses(
  ctx: Parts,
  named: readonly string[],
): Promise<Pick<CheckParts, 'addressOf' | 'solanaOperatorsOf'>> {
  const given = readNamed(named);
  const known = new Map<OperatorKey, Promise<Hex>>();
  const addressOf = (key: OperatorKey) => {
    const address = known.get(key) ?? readKeyAddress(key, ctx.clock);
    known.set(key, address);
    return address;
  };
  const found = new Map<string, Hex | null>();
  for (const chain of EVM_CHAIN_NAMES)
    for (const role of KEY_ROLES) {
      const key = keyFor(ctx.config, role, chain);
      const configured =
        key === null ? (findRemoteAddress(ctx.config, role, chain) as Hex | null) : await addressOf(key);
      const address = given.get(role) ?? configured;
      found.set(`${role} ${chain}`, address ?? (await findCommonAddress(ctx, role, given.size > 0)));
    }
  const operators = new Map<string, string[]>();
  for (const chain of SOLANA_CHAIN_NAMES) operators.set(chain, await findSolanaOperators(ctx, chain));
  return {
    addressOf: (role, chain) => found.get(`${role} ${chain}`) ?? null,
    solanaOperatorsOf: (chain) => operators.get(chain) ?? [],
  };
}

/** An address given without a role applies to all roles except `supplier`. */
function readNamed(named: readonly string[]): Map<KeyRole, Hex> {
  const given = new Map<KeyRole, Hex>();
  for (const text of named) {
    const [, role, address] = NAMED.exec(text) ?? [];
    if (address === undefined)
      throw new UsageError('--operator must be an address (0x and 40 hexadecimal digits) or ROLE=ADDRESS');
    const roles = role === undefined ? (['commit', 'refund', 'quote'] as const) : [role as KeyRole];
    for (const each of roles) given.set(each, address as Hex);
  }
  return given;
}

/**
 * The first that exist of: the configured keys, those that nodes use on the cluster now, the most recently used one,
 * the sandbox key.
 */
async function findSolanaOperators({ db, clock, config }: Parts, chain: string): Promise<string[]> {
  const keys = new Set(SENDING_ROLES.flatMap((role) => solanaKeyFor(config, role, chain) ?? []));
  const signers = await Promise.all([...keys].map((key) => openSolanaKey(key, clock)));
  const remote = SENDING_ROLES.flatMap((role) => findRemoteAddress(config, role, chain) ?? []);
  const addresses = new Set([...signers.map(({ address }) => address), ...remote]);
  if (addresses.size > 0) return [...addresses];
  const held = (await listKeyStates(db, chain)).filter(({ holder }) => holder !== null);
  if (held.length > 0) return held.map(({ address }) => address);
  const [latest] = (await listOperators(db)).solana;
  if (latest !== undefined) return [latest];
  if (config.profile !== 'sandbox') return [];
  return [localSolanaSigner(hexToBytes(deriveSandboxKey('solana operator'))).address];
}

async function findCommonAddress(
  { db, config: { profile } }: Parts,
  role: KeyRole,
  isNamed: boolean,
): Promise<Hex | null> {
  const sandboxKey = role === 'supplier' ? 'supplier' : 'operator';
  const { ethereum: known } = role === 'supplier' ? { ethereum: [] } : await listOperators(db);
  if (known.length === 1) return known[0] ?? null;
  if (known.length > 1 && isNamed) return null;
  if (known.length > 1)
    throw new UsageError(
      `nodes have used several operator addresses (${known.join(', ')}); pass the current one with --operator ADDRESS, or one per role with --operator ROLE=ADDRESS`,
    );
  return profile === 'sandbox' ? privateKeyToAddress(deriveSandboxKey(sandboxKey)) : null;
}
