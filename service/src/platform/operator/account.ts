import type { Clock } from '../../kernel/clock.ts';
import type { Random } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { EvmChain } from '../chain/evm/client.ts';
import type { Db } from '../db/pool.ts';
import type { RefusedAttempts } from './refused-attempts.ts';
import type { Signer } from './signer.ts';

/** A key's address on one chain: enough to read the key's transactions, but not to sign. */
export type ReadOnlyAccount = { db: Db; chain: EvmChain; signer: Pick<Signer, 'address'> };

export type OperatorAccount = {
  db: Db;
  log: Log;
  clock: Clock;
  random: Random;
  chain: EvmChain;
  signer: Signer;
  /** The maximum fee in wei per unit of gas, including the tip. */
  maxFee: bigint;
  /** The maximum tip for the block producer, in wei per unit of gas. */
  maxTip: bigint;
  /** Maximum wei spent on gas in 24 hours. */
  dailyLimit: bigint;
  refused: RefusedAttempts;
};

type FeeConfig = {
  operatorMaxFee: bigint;
  operatorMaxFees: Partial<Record<string, bigint>>;
  operatorMaxTip: bigint;
  operatorDailyLimit: bigint;
};

export function feeLimits(
  config: FeeConfig,
  chain: string,
): Pick<OperatorAccount, 'maxFee' | 'maxTip' | 'dailyLimit'> {
  return {
    maxFee: config.operatorMaxFees[chain] ?? config.operatorMaxFee,
    maxTip: config.operatorMaxTip,
    dailyLimit: config.operatorDailyLimit,
  };
}

/** Identifies one key on one chain. On EVM chains, each `KeyId` has its own sequence of nonces. */
export type KeyId = { chain: string; address: string };

export function keyId({ chain, signer }: Pick<ReadOnlyAccount, 'chain' | 'signer'>): KeyId {
  return { chain: chain.name, address: signer.address };
}
