import { sql } from 'kysely';
import type { Hex } from 'viem';
import type { Outcomes } from '../chain/follow.ts';
import { nameRevert } from '../chain/revert.ts';
import { isSingleCommit, matchRows, waitReasonOf } from '../chain/sale-fund.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import type { Alerts } from './alerts.ts';
import { holdBack, listRowsOf, type WorkRow } from './settlement-store.ts';
import { changeStatus } from './status.ts';

type Source = Pick<Context, 'clock' | 'random'>;

const RETRY_SECONDS = 60;

/** What the verdict over a transaction means for its participations. */
export function createOutcomes(source: Source, alerts: Alerts): Outcomes {
  // A batch takes each row by itself, so its revert is never a row's; a single commit's is, unless the fund is stopped or
  // nobody can tell: then another try will.
  const isRows = (data: Hex, revert: Hex) =>
    isSingleCommit(data) && waitReasonOf(revert) === null && revert !== '0x';
  const isReleased: Outcomes['isReleased'] = ({ kind, data, target }, revert) => {
    if (kind !== 'commit' || isRows(data, revert)) return false;
    alerts.raise(waitReasonOf(revert) ?? 'reverts', `a commit to ${target} reverted: ${nameRevert(revert)}`);
    return true;
  };
  return {
    isReleased,
    settle: async (tx, transaction, receipt, revert) => {
      const { id, kind, target } = transaction;
      if (kind === 'fill') return;
      const rows = await listRowsOf(tx, kind, id);
      if (revert !== null && isReleased(transaction, revert)) return releaseCommit(source, tx, rows);
      const seen = revert === null ? matchRows(target, receipt.logs, rows) : rows.map(() => null);
      const [ok, failed] = split(rows, (i) => seen[i] === (kind === 'commit' ? 'Committed' : 'Remitted'));
      const settle = kind === 'commit' ? settleCommit : settleRemit;
      await settle(source, tx, ok, failed, revert);
    },
    reopen: async (tx, { id, kind }) => {
      if (kind === 'fill') return;
      const ids = (await listRowsOf(tx, kind, id)).map((row) => row.id);
      if (kind === 'remit') {
        await changeStatus(source, tx, { ids, from: ['remitted', 'remit_failed'], to: 'remit_submitted' });
        return;
      }
      await markCommitted(tx, ids, null);
      await changeStatus(source, tx, { ids, from: ['completed', 'failed'], to: 'submitted' });
    },
  };
}

function split(rows: WorkRow[], isOk: (index: number) => boolean): [string[], string[]] {
  const ids = (wanted: boolean) => rows.filter((_, i) => isOk(i) === wanted).map(({ id }) => id);
  return [ids(true), ids(false)];
}

async function settleCommit(
  source: Source,
  tx: Db,
  ok: string[],
  failed: string[],
  revert: Hex | null,
): Promise<void> {
  await markCommitted(tx, ok, true);
  await markCommitted(tx, failed, false);
  await changeStatus(source, tx, { ids: ok, from: ['submitted'], to: 'completed' });
  // A refund of what turned out not to be committed has failed with it.
  const reason = revert === null ? 'commit_failed' : nameRevert(revert);
  await changeStatus(source, tx, { ids: failed, from: ['submitted', 'remit_failed'], to: 'failed', reason });
}

async function settleRemit(
  source: Source,
  tx: Db,
  ok: string[],
  failed: string[],
  revert: Hex | null,
): Promise<void> {
  await changeStatus(source, tx, { ids: ok, from: ['remit_submitted'], to: 'remitted' });
  const reason = revert === null ? 'remit_not_seen' : nameRevert(revert);
  const committed = await tx
    .selectFrom('participations')
    .select('id')
    .where('id', '=', sql<string>`any(${failed}::uuid[])`)
    .where((where) => where.or([where('committed', '=', true), where('committed', 'is', null)]))
    .execute();
  const kept = new Set(committed.map(({ id }) => id));
  const change = { from: ['remit_submitted'] as const, reason };
  await changeStatus(source, tx, { ...change, ids: failed.filter((id) => kept.has(id)), to: 'remit_failed' });
  await changeStatus(source, tx, { ...change, ids: failed.filter((id) => !kept.has(id)), to: 'failed' });
}

/** The transaction did nothing and cannot come back: its rows wait for another one. */
async function releaseCommit(source: Source, tx: Db, rows: WorkRow[]): Promise<void> {
  const ids = rows.map(({ id }) => id);
  await holdBack(tx, ids, RETRY_SECONDS);
  await changeStatus(source, tx, {
    ids,
    from: ['submitted'],
    to: 'pending',
    set: sql`, commit_id = null, commit_row = null`,
  });
}

async function markCommitted(tx: Db, ids: string[], committed: boolean | null): Promise<void> {
  await sql`update participations set committed = ${committed} where id = any(${ids}::uuid[])`.execute(tx);
}
