import { sql } from 'kysely';
import type { Hex } from 'viem';
import { nameRevert } from '../chain/evm/revert.ts';
import { blockedReasonOf, isSingleCommit, matchRows } from '../chain/evm/sale-fund.ts';
import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import type { Outcomes } from '../operator/follow.ts';
import { changeStatus } from '../participations/status.ts';
import type { Alerts } from './alerts.ts';
import { holdBack, listRowsOf, type WorkRow } from './store.ts';

type Source = Pick<Context, 'db' | 'clock' | 'random' | 'log'>;

const RETRY_SECONDS = 60;
const NOT_COMMITTED = 'commit_failed';

/** What the verdict over a transaction means for its participations. */
export function createOutcomes(source: Source, alerts: Alerts): Outcomes {
  // A batch takes each row by itself, so its revert is never a row's; a single commit's is, unless the fund is stopped or
  // nobody can tell: then another try will.
  const isRows = (data: Hex, revert: Hex) =>
    isSingleCommit(data) && blockedReasonOf(revert) === null && revert !== '0x';
  const isReleased: Outcomes['isReleased'] = ({ kind, data, target }, revert) => {
    if (kind !== 'commit' || isRows(data, revert)) return false;
    alerts.raise(
      blockedReasonOf(revert) ?? 'reverts',
      `a commit to ${target} reverted: ${nameRevert(revert)}`,
    );
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
    prerequisiteState: async ({ id, kind }) => (kind === 'remit' ? groundOfRemit(source.db, id) : 'firm'),
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
  await changeStatus(source, tx, { ids: ok, from: ['submitted'], to: 'completed' });
  await failUncommitted(source, tx, failed, revert === null ? NOT_COMMITTED : nameRevert(revert));
}

/** A refund of what turned out not to be committed has failed with it, unless it is on its way: then its end decides. */
export async function failUncommitted(
  source: Pick<Source, 'clock' | 'random'>,
  tx: Db,
  ids: string[],
  reason: string,
): Promise<void> {
  await markCommitted(tx, ids, false);
  await changeStatus(source, tx, { ids, from: ['submitted', 'remit_failed'], to: 'failed', reason });
  const { rows } = await sql<{ id: string }>`
    select p.id from participations p where p.id = any(${ids}::uuid[]) and not exists (
      select from operator_transactions t where t.id = p.remit_id and t.state = 'open')`.execute(tx);
  const unsent = rows.map(({ id }) => id);
  await changeStatus(source, tx, { ids: unsent, from: ['remit_submitted'], to: 'failed', reason });
}

/** A fund would pay a refund out of the user's other participations, were its own commit not there. */
async function groundOfRemit(db: Db, id: string): Promise<'firm' | 'open' | 'gone'> {
  const { rows } = await sql<{ ground: 'firm' | 'open' | 'gone' }>`
    select case when bool_or(not committed) then 'gone' when bool_or(committed is null) then 'open' else 'firm' end as ground
    from participations where remit_id = ${id}`.execute(db);
  return rows[0]?.ground ?? 'firm';
}

async function settleRemit(
  source: Source,
  tx: Db,
  ok: string[],
  failed: string[],
  revert: Hex | null,
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from participations where id = any(${[...ok, ...failed]}::uuid[]) and not committed`.execute(
    tx,
  );
  const uncommitted = new Set(rows.map(({ id }) => id));
  const unbacked = ok.filter((id) => uncommitted.has(id));
  if (unbacked.length > 0)
    source.log.error(
      { participation_ids: unbacked },
      'refunds were paid out of other participations of their users: a reorganisation undid their commits afterwards',
    );
  // Money that has moved is told, whatever was thought of the row meanwhile.
  await changeStatus(source, tx, {
    ids: ok,
    from: ['submitted', 'completed', 'failed', 'remit_submitted', 'remit_failed'],
    to: 'remitted',
  });
  const reason = revert === null ? 'remit_not_seen' : nameRevert(revert);
  await changeStatus(source, tx, {
    ids: failed.filter((id) => !uncommitted.has(id)),
    ...{ from: ['remit_submitted'], to: 'remit_failed', reason },
  });
  await changeStatus(source, tx, {
    ids: failed.filter((id) => uncommitted.has(id)),
    ...{ from: ['remit_submitted'], to: 'failed', reason: NOT_COMMITTED },
  });
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
