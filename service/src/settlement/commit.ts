import { sql } from 'kysely';
import type { Hex } from 'viem';
import { describeRevert, revertData } from '../chain/evm/revert.ts';
import { blockedReasonOf, encodeCommit } from '../chain/evm/sale-fund.ts';
import { toTimestamp } from '../http/wire.ts';
import { Blocked } from '../operator/blocked.ts';
import { type Call, readQuantity, sendCall } from '../operator/sender.ts';
import { inspectReceipts } from '../participations/approval.ts';
import { changeStatus } from '../participations/status.ts';
import type { Worker } from './round.ts';
import { holdBack, listPending, type WorkRow } from './store.ts';

/** A row with all new storage takes about 90,000; a fund may keep 400,000 ready for the one it is at. */
const ROW_GAS = 200_000n;
const BATCH_GAS = 500_000n;
const HOLD_BACK_SECONDS = 60;
const STOPPED_SECONDS = 5;
const FUND_REASONS: ReadonlySet<string> = new Set(['fund_stopped', 'role_missing']);

/** As many as fit into one transaction, well below what nodes simulate and blocks hold. */
export const MAX_ROWS = 36;

/** Sends the oldest pending rows of one fund. Answers how many rows it moved on; 0 when there is nothing to do. */
export async function commitNext(worker: Worker): Promise<number> {
  const { ctx, operator } = worker;
  const listed = await listPending(ctx.db, operator.chain.name, MAX_ROWS);
  const rows = await returnUnapproved(worker, listed);
  if (rows.length === 0) return listed.length;
  return orHoldBack(worker, rows, () => sendCommit(worker, rows));
}

/**
 * A fund that is stopped, or that we lost our role in, must not keep the others waiting: its rows are looked past for a
 * while, and the alert stays for as long.
 */
export async function orHoldBack(
  { ctx, alerts }: Worker,
  rows: WorkRow[],
  send: () => Promise<number>,
): Promise<number> {
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof Blocked && FUND_REASONS.has(error.reason))) throw error;
    alerts.raise(error.reason, error.message, STOPPED_SECONDS + 5);
    await holdBack(
      ctx.db,
      rows.map(({ id }) => id),
      STOPPED_SECONDS,
    );
    return rows.length;
  }
}

async function sendCommit(worker: Worker, rows: WorkRow[]): Promise<number> {
  const { ctx, operator, lease } = worker;
  const { call, taken } = await planCommit(worker, rows);
  if (call === null) return rows.length;
  await sendCall(operator, lease(), call, async (tx, id) => {
    const moved = await changeStatus(ctx, tx, {
      ids: taken.map((row) => row.id),
      from: ['pending'],
      to: 'submitted',
      set: sql`, commit_id = ${id}, commit_row = n.row - 1`,
    });
    if (moved !== taken.length) throw new Error('a pending row was moved by somebody else');
  });
  return taken.length;
}

/** A reorganisation may have taken an approval back since it was seen. */
async function returnUnapproved({ ctx, operator }: Worker, rows: WorkRow[]): Promise<WorkRow[]> {
  if (rows.length === 0) return rows;
  const { findings } = await inspectReceipts(operator.chain, rows);
  const isGone = (i: number) => findings[i]?.state === 'unmined' || findings[i]?.state === 'unconfirmed';
  const gone = rows.filter((_, i) => isGone(i)).map(({ id }) => id);
  if (gone.length > 0) {
    const now = toTimestamp(ctx.clock.micros());
    await ctx.db.transaction().execute((tx) =>
      changeStatus(ctx, tx, {
        ids: gone,
        from: ['pending'],
        to: 'prepared',
        set: sql`, prepared_at = ${now}`,
      }),
    );
  }
  return rows.filter((_, i) => !isGone(i));
}

type Plan = { call: Call | null; taken: WorkRow[] };

/**
 * The largest batch of these rows that a simulation takes. Rows fail one by one in a batch, so only what concerns all
 * of them makes it revert; a row that does so alone is held back and the others go on.
 */
async function planCommit(worker: Worker, rows: WorkRow[]): Promise<Plan> {
  const [first] = rows;
  if (first === undefined) return { call: null, taken: [] };
  if (rows.length === 1) {
    const single = await tryCall(worker, first.fund, encodeCommit(rows, 'single'), null);
    if ('call' in single) return { call: single.call, taken: rows };
  }
  const limit = BATCH_GAS + ROW_GAS * BigInt(rows.length);
  const batch = await tryCall(worker, first.fund, encodeCommit(rows, 'batch'), limit);
  if ('call' in batch) return { call: batch.call, taken: rows };
  if (rows.length > 1) return planCommit(worker, rows.slice(0, Math.ceil(rows.length / 2)));
  await holdBack(worker.ctx.db, [first.id], HOLD_BACK_SECONDS);
  worker.alerts.raise(
    'reverts',
    `a commit to ${first.fund} would revert: ${batch.reverts}`,
    HOLD_BACK_SECONDS + 5,
  );
  return { call: null, taken: [] };
}

/** Null for `gas` takes what the simulation used and half as much again. Throws when the fund itself refuses. */
async function tryCall(
  { operator }: Worker,
  target: Hex,
  data: Hex,
  gas: bigint | null,
): Promise<{ call: Call } | { reverts: string }> {
  const estimate = await estimateGas(operator, target, data, 'commit');
  if ('revert' in estimate) return { reverts: describeRevert(estimate.revert) };
  if (gas !== null && estimate.gas > gas) return { reverts: 'it takes more gas than a batch may' };
  return { call: { kind: 'commit', target, data, gas: gas ?? (estimate.gas * 3n) / 2n } };
}

export async function estimateGas(
  { chain, signer }: Worker['operator'],
  target: Hex,
  data: Hex,
  what: string,
): Promise<{ gas: bigint } | { revert: Hex }> {
  try {
    return {
      gas: await readQuantity(chain, 'eth_estimateGas', [{ from: signer.address, to: target, data }]),
    };
  } catch (error) {
    const revert = revertData(error);
    if (revert === undefined) throw error;
    const reason = blockedReasonOf(revert);
    if (reason !== null)
      throw new Blocked(reason, `${what} on the fund ${target}: ${describeRevert(revert)}`);
    return { revert };
  }
}
