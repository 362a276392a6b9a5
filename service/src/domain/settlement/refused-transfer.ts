import type { Hex } from 'viem';
import { hexToBigInt, isHex, numberToHex } from 'viem/utils';
import type { SendingRole } from '../../kernel/config/role.ts';
import type { EvmChain } from '../../platform/chain/evm/client.ts';
import { encodeTransfer, encodeTransferFrom } from '../../platform/chain/evm/erc20.ts';
import { describeRevert, revertData } from '../../platform/chain/evm/revert.ts';
import { changeStatus } from '../holdings/participation-status.ts';
import { mayEnd } from './agreement.ts';
import { batchGas } from './estimate.ts';
import type { EvmParts, EvmRow } from './evm-parts.ts';
import { postpone } from './postpone.ts';

const REASON = 'transfer_refused';
const REFUSED_DELAY_SECONDS = 60;

/** The calls with which a fund takes the amount of a row from its wallet, and pays it back. */
const TRANSFERS: Record<SendingRole, (row: EvmRow) => Hex> = {
  commit: ({ user, fund, amount }) => encodeTransferFrom(user, fund, amount),
  refund: ({ user, amount }) => encodeTransfer(user, amount),
};

/**
 * If the token of these rows refuses every transfer, postpones them, raises an alert and returns true. The token is then
 * paused or refuses the fund, probably for a while, and every row that was sent would fail.
 */
export async function postponeRefused(
  worker: EvmParts,
  role: SendingRole,
  rows: readonly EvmRow[],
): Promise<boolean> {
  const refusal = await findCommonRefusal(worker.account.chain, role, rows);
  if (refusal === null) return false;
  await postpone(worker, rows, REFUSED_DELAY_SECONDS, {
    reason: 'transfers_refused',
    message: `the token ${rows[0]?.token} refuses every transfer: ${refusal}`,
  });
  return true;
}

/**
 * Returns why the token refuses the last row, or null if it transfers the amount of one of the rows, or 0 from the fund
 * to itself. A paused token refuses even that. A token that only blocks the wallets of the rows does not, and these rows
 * must fail: if commits waited, their supply would stay reserved until they expire.
 */
async function findCommonRefusal(
  chain: EvmChain,
  role: SendingRole,
  rows: readonly EvmRow[],
): Promise<string | null> {
  const probes = rows.slice(0, 1).map((row) => ({ ...row, user: row.fund, amount: 0n }));
  let refusal: string | null = null;
  for (const row of [...probes, ...rows]) {
    refusal = await findRefusal(chain, role, row);
    if (refusal === null) return null;
  }
  return refusal;
}

/**
 * Marks a row as failed if its token refuses to transfer the amount to the fund. Returns whether the row was marked.
 * Call this only after the allowance and the balance are known to be sufficient.
 *
 * Simulates the transfer with the gas limit of a real commit. A token that burns gas up to this limit counts as
 * refusing, because a fund without a gas cap per row can never commit the row. The simulation calls the token directly,
 * from the fund's address, so that a fault in the fund itself does not fail the row.
 */
export async function failRefused(worker: EvmParts, row: EvmRow): Promise<boolean> {
  const { ctx, account } = worker;
  const judge = (view: EvmChain) => judgeTransfer(view, row);
  if ((await judge(account.chain)) !== REASON) return false;
  const views = account.chain.rpc.providers().map((rpc) => ({ ...account.chain, rpc }));
  if (!(await mayEnd(worker, views, [row], REASON, judge))) return false;
  const change = { ids: [row.id], from: ['pending'] as const, to: 'failed' as const, reason: REASON };
  return (await ctx.db.transaction().execute((tx) => changeStatus(ctx, tx, change))) === 1;
}

async function judgeTransfer(chain: EvmChain, row: EvmRow): Promise<string> {
  return (await findRefusal(chain, 'commit', row)) === null ? 'accepted' : REASON;
}

/** Returns why the token refuses to transfer the row's amount, or null if it transfers the amount. */
async function findRefusal({ rpc }: EvmChain, role: SendingRole, row: EvmRow): Promise<string | null> {
  const { fund, token } = row;
  try {
    const call = { from: fund, to: token, data: TRANSFERS[role](row), gas: numberToHex(batchGas(1)) };
    const result = await rpc.request({ method: 'eth_call', params: [call, 'latest'] });
    // Some tokens return nothing.
    return isHex(result) && result !== '0x' && hexToBigInt(result) === 0n ? 'it returned false' : null;
  } catch (error) {
    const revert = revertData(error);
    if (revert === undefined) throw error;
    return describeRevert(revert);
  }
}
