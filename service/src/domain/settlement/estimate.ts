import type { Hex } from 'viem';
import { readQuantity } from '../../platform/chain/evm/node-reads.ts';
import { describeRevert, revertData } from '../../platform/chain/evm/revert.ts';
import { fundBlockedReason } from '../../platform/chain/evm/sale-fund.ts';
import type { OperatorAccount } from '../../platform/operator/account.ts';
import { Blocked } from '../../platform/operator/blocked.ts';

/**
 * Estimates the gas of a call. If the call reverts, returns the revert data, or throws `Blocked` if the fund rejects
 * all calls at the moment.
 */
export async function estimateGas(
  { chain, signer }: OperatorAccount,
  target: Hex,
  data: Hex,
  kind: 'commit' | 'remit' | 'revoke',
): Promise<{ gas: bigint } | { revert: Hex }> {
  try {
    const call = { from: signer.address, to: target, data };
    return { gas: await readQuantity(chain, 'eth_estimateGas', [call]) };
  } catch (error) {
    const revert = revertData(error);
    if (revert === undefined) throw error;
    const reason = fundBlockedReason(revert);
    if (reason !== null) throw new Blocked(reason, `${kind} to ${target}: ${describeRevert(revert)}`);
    return { revert };
  }
}

/**
 * A row that writes only new storage slots costs about 90,000 gas. Some funds revert the batch if less than about 430,000
 * gas is left at the start of a row. `BATCH_BASE_GAS` covers this amount.
 */
const GAS_PER_ROW = 200_000n;
const BATCH_BASE_GAS = 500_000n;

/** Returns the gas limit of a batch of this many commits. */
export function batchGas(rows: number): bigint {
  return BATCH_BASE_GAS + GAS_PER_ROW * BigInt(rows);
}

/** Returns the gas limit for a call whose actual cost may exceed the estimate. */
export function withGasMargin(estimate: bigint): bigint {
  return (estimate * 3n) / 2n;
}
