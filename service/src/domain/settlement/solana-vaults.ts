import type { SolanaChain } from '../../platform/chain/solana/client.ts';
import { readAccounts } from '../../platform/chain/solana/reads.ts';
import { readTokenAccount } from '../../platform/chain/solana/token-accounts.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listVaults } from './vault-store.ts';

/**
 * `settled` is the amount that participations have paid in, less their refunds. `moved` is the net amount that anyone
 * else has moved in or out, for example the vault's owner or a thief.
 */
export type VaultBalance = { vault: string; balance: bigint; settled: bigint; moved: bigint };

/** Compares the finalized balance of every vault with the database. Differences are reported, never corrected. */
export async function compareVaults(db: Db, chain: SolanaChain): Promise<VaultBalance[]> {
  const vaults = await listVaults(db, chain.name);
  const addresses = vaults.map(({ vault }) => vault);
  const accounts = await readAccounts(chain, addresses, { commitment: 'finalized' });
  return vaults.map(({ vault, settled }, i) => {
    const balance = readTokenAccount(accounts[i] ?? null)?.amount ?? 0n;
    return { vault, balance, settled, moved: balance - settled };
  });
}
