import type { SendingRole } from '../../kernel/config/role.ts';
import { readAccounts, readEpoch } from '../chain/solana/reads.ts';
import { Blocked } from './blocked.ts';
import { extendKeyUse, readFirstHeight, startKeyUse } from './key-use-store.ts';
import { type Lease, withLease } from './lease.ts';
import type { SolanaAccount } from './solana-account.ts';

/** The number of blocks after which a signed transaction has certainly expired. */
const EXPIRY_BLOCKS = 300n;
/**
 * A key may be idle for so long and sign again without waiting. Safe, because any other key, even one that is missing
 * from this database, has to wait for more blocks before it signs in the same role.
 */
const GRACE_BLOCKS = 150n;
const HEARTBEAT_INTERVAL_MS = 15_000;

/** `at` is the time (`performance.now()`) at which the key was last recorded as in use. */
export type Heartbeat = { at: number | null };

/** At most once per interval. A key with a recent record may sign without waiting. */
export async function keepKeyAlive(
  { db, chain, signer, roles }: SolanaAccount,
  lease: Lease,
  heartbeat: Heartbeat,
): Promise<void> {
  if (signer === null) return;
  if (heartbeat.at !== null && performance.now() - heartbeat.at < HEARTBEAT_INTERVAL_MS) return;
  const { height } = await readEpoch(chain);
  await withLease(db, lease, (tx) => extendKeyUse(tx, lease, roles, height, GRACE_BLOCKS));
  heartbeat.at = performance.now();
}

/**
 * Throws `Blocked` while another key of the same funds may have transactions in this role that can still land. Two keys
 * could pay twice for the same participation, because each key creates its own receipt, and a receipt prevents only a
 * second payment by the same key. So a key that takes over a role must wait until its predecessor's transactions have
 * expired, even if it had the role before.
 *
 * Another key counts only if it has lamports, because without them it cannot have sent anything. Keys in different
 * roles may sign at the same time, because a commit and a refund are different payments.
 *
 * The first call records how long the key must wait, for all funds and in all roles that the key takes over. So
 * `listSigners` must return the keys of all funds, not only those of the fund that is settled first.
 */
export async function assertKeyStarted(
  { db, chain, key, roles }: SolanaAccount,
  lease: Lease,
  role: SendingRole,
  listSigners: () => Promise<readonly string[]>,
): Promise<void> {
  const { height } = await readEpoch(chain);
  const extended = await withLease(db, lease, (tx) => extendKeyUse(tx, key, roles, height, GRACE_BLOCKS));
  const started = roles.filter((each) => !extended.includes(each));
  if (started.length > 0) {
    const others = [...new Set(await listSigners())].filter((signer) => signer !== key.address);
    const accounts = await readAccounts(chain, others, { commitment: 'finalized' });
    const wait = accounts.some((other) => other !== null) ? EXPIRY_BLOCKS : 0n;
    await withLease(db, lease, (tx) => startKeyUse(tx, key, started, height, height + wait));
  }
  const first = (await readFirstHeight(db, key, role, EXPIRY_BLOCKS)) ?? height;
  if (height < first)
    throw new Blocked(
      'role_missing',
      `the operator ${key.address} must not sign ${role}s on ${chain.name} before block height ${first}, because ${role}s signed by other keys of its funds can still land until then; the current height is ${height}`,
    );
}
