import type { Clock } from '../../kernel/clock.ts';
import type { SendingRole } from '../../kernel/config/role.ts';
import type { Random } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { SolanaChain } from '../chain/solana/client.ts';
import type { Db } from '../db/pool.ts';
import type { KeyId } from './account.ts';
import type { RefusedAttempts } from './refused-attempts.ts';
import type { SolanaSigner } from './solana-signer.ts';

export type SolanaAccount = {
  db: Db;
  log: Log;
  clock: Clock;
  random: Random;
  chain: SolanaChain;
  key: KeyId;
  /** The signer. Null for a replaced key: its open transactions are followed, but it signs nothing. */
  signer: SolanaSigner | null;
  /** The roles in which the key signs. Other keys have the remaining roles. */
  roles: readonly SendingRole[];
  /** Maximum price per compute unit, in millionths of a lamport. */
  maxPrice: bigint;
  /** Tells operators that the market price exceeds `maxPrice`. The transaction pays only `maxPrice`. */
  reportCappedPrice(message: string): void;
  refused: RefusedAttempts;
};
