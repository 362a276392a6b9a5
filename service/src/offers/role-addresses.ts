import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { hexToBytes } from 'viem/utils';
import type { Context } from '../context.ts';
import { UsageError } from '../operations/command.ts';
import { openOperatorKey } from '../operator/key.ts';
import { deriveSandboxKey } from '../operator/sandbox-keys.ts';
import { localSolanaSigner, openSolanaSigner } from '../operator/solana-signer.ts';
import { listOperators } from '../operator/status.ts';

/**
 * Finds the addresses to which contracts must have granted roles. Needs no private key: without OPERATOR_KEY or
 * SOLANA_OPERATOR_KEY, it returns the operator addresses of the nodes that share this database.
 */
export async function findKeyAddresses(
  ctx: Pick<Context, 'db' | 'clock' | 'config'>,
  operator: string | undefined,
): Promise<{ operator: Hex | null; supplier: Hex | null; solanaOperator: string | null }> {
  const { profile, supplierKey } = ctx.config;
  const key = supplierKey ?? (profile === 'sandbox' ? deriveSandboxKey('supplier') : null);
  return {
    operator: await findOperator(ctx, operator),
    supplier: key === null ? null : privateKeyToAddress(key),
    solanaOperator: await findSolanaOperator(ctx),
  };
}

async function findSolanaOperator({
  db,
  clock,
  config: { profile, solanaKey },
}: Pick<Context, 'db' | 'clock' | 'config'>): Promise<string | null> {
  if (solanaKey !== null) return (await openSolanaSigner(solanaKey, clock)).address;
  const [latest] = (await listOperators(db)).solana;
  if (latest !== undefined || profile !== 'sandbox') return latest ?? null;
  return localSolanaSigner(hexToBytes(deriveSandboxKey('solana operator'))).address;
}

async function findOperator(
  { db, clock, config }: Pick<Context, 'db' | 'clock' | 'config'>,
  named: string | undefined,
): Promise<Hex | null> {
  if (named !== undefined) {
    if (!/^0x[0-9a-fA-F]{40}$/.test(named))
      throw new UsageError('--operator must be an address: 0x and 40 hexadecimal digits');
    return named as Hex;
  }
  if (config.operatorKey !== null) return (await openOperatorKey(config.operatorKey, clock)).address;
  const { ethereum: known } = await listOperators(db);
  if (known.length === 1) return known[0] ?? null;
  if (known.length > 1)
    throw new UsageError(
      `nodes have used several operators (${known.join(', ')}); pass --operator ADDRESS to name the current one`,
    );
  return config.profile === 'sandbox' ? privateKeyToAddress(deriveSandboxKey('operator')) : null;
}
