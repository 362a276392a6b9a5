import { readAccounts, readEpoch } from '../chain/solana/reads.ts';
import { Blocked } from './blocked.ts';
import { claimFirstHeight } from './lease-store.ts';
import type { SolanaAccount } from './solana-account.ts';

/** Longer than a signed transaction can live. */
const EXPIRY_BLOCKS = 300n;

/**
 * Throws `Blocked` until everything that other keys of the same funds may have signed has expired. Receipts differ by key, so
 * a key that takes over must not send while a transaction of its predecessor can still land. A key without lamports cannot
 * have sent anything.
 */
export async function assertKeyStarted(account: SolanaAccount, signers: readonly string[]): Promise<void> {
  const { db, chain, key } = account;
  const { height } = await readEpoch(chain);
  const first = await claimFirstHeight(db, key, async () => {
    const others = signers.filter((signer) => signer !== key.address);
    const accounts = await readAccounts(chain, others, { commitment: 'finalized' });
    return accounts.some((other) => other !== null) ? height + EXPIRY_BLOCKS : height;
  });
  if (height < first)
    throw new Blocked(
      'role_missing',
      `the operator ${key.address} signs from block height ${first} on, when transactions of the other keys of its funds on ${chain.name} have expired; the height is ${height}`,
    );
}
