import { hexToBigInt, isHex, numberToHex } from 'viem/utils';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { encodeTransferFrom } from '../../platform/chain/evm/erc20.ts';
import { describeRevert, revertData } from '../../platform/chain/evm/revert.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { mayEnd } from './agreement.ts';
import type { EvmParts, EvmRow } from './evm-parts.ts';

const REASON = 'transfer_refused';

/**
 * Marks a row as failed if its token refuses to transfer the amount to the fund. Returns whether the row was marked.
 * Call this only after the allowance and the balance are known to be sufficient.
 *
 * Simulates the transfer with the gas limit of a real commit. A token that burns gas up to this limit counts as
 * refusing, because a fund without a gas cap per row can never commit the row. The simulation calls the token directly,
 * from the fund's address, so that a fault in the fund itself does not fail the row.
 */
export async function failRefused(worker: EvmParts, row: EvmRow, gas: bigint): Promise<boolean> {
  const { ctx, account } = worker;
  const judge = (view: EvmChain) => judgeTransfer(view, row, gas);
  if ((await judge(account.chain)) !== REASON) return false;
  const views = account.chain.rpc.providers().map((rpc) => ({ ...account.chain, rpc }));
  if (!(await mayEnd(worker, views, [row], REASON, judge))) return false;
  const change = { ids: [row.id], from: ['pending'] as const, to: 'failed' as const, reason: REASON };
  return (await ctx.db.transaction().execute((tx) => changeStatus(ctx, tx, change))) === 1;
}

async function judgeTransfer(chain: EvmChain, row: EvmRow, gas: bigint): Promise<string> {
  return (await findRefusal(chain, row, gas)) === null ? 'accepted' : REASON;
}

/** Returns why the token refuses to transfer the row's amount to the fund, or null if it transfers the amount. */
export async function findRefusal({ rpc }: EvmChain, row: EvmRow, gas: bigint): Promise<string | null> {
  const { fund, token, user, amount } = row;
  const data = encodeTransferFrom(user, fund, amount);
  try {
    const call = { from: fund, to: token, data, gas: numberToHex(gas) };
    const result = await rpc.request({ method: 'eth_call', params: [call, 'latest'] });
    // Some tokens return nothing.
    return isHex(result) && result !== '0x' && hexToBigInt(result) === 0n ? 'it returned false' : null;
  } catch (error) {
    const revert = revertData(error);
    if (revert === undefined) throw error;
    return describeRevert(revert);
  }
}
