import type { Context } from '@causeway/service/context.ts';
import type { Db } from '@causeway/service/db/pool.ts';
import { appendEvents } from '@causeway/service/events/event.ts';
import { toTimestamp } from '@causeway/service/http/wire.ts';
import { changeStatus } from '@causeway/service/participations/status.ts';
import { type StatusChange, updateStatus } from '@causeway/service/participations/store.ts';
import { wakeSettlement } from '@causeway/service/participations/wake.ts';
import { markCommitted } from '@causeway/service/settlement/store.ts';
import { sql } from 'kysely';
import { readCpuMs } from './cpu.ts';
import { seedParticipations } from './participations-seed.ts';

/** `cpuMs` is the CPU time per database commit, including the database's own CPU time. */
type Run = { perSecond: number; cpuMs: number };

export type CommitFigures = {
  /** The throughput with an event in each commit, divided by the throughput without events. One value per round. */
  ratios: number[];
  wakingRatios: number[];
  /**
   * The CPU time per commit without events, divided by the CPU time with an event in each commit. One value per round.
   * Other processes hardly affect this ratio.
   */
  cpuRatios: number[];
  /** Like `ratios`, but for a tiny transaction: a locking read and two inserts of one narrow row each. */
  tinyRatios: number[];
  without: Run;
  with: Run;
};

const COMMITTERS = 16;
const ROUNDS = 15;

/**
 * Measures how much appending an event, or waking the settlement workers, slows down a database commit. Compares
 * commits that append an event, commits that wake the workers, and commits that do neither. All kinds of commits
 * alternate, so that load on the machine affects them equally.
 *
 * Each commit makes the service's most frequent change: it records the outcome of a participation, together with an
 * audit entry and a notice (which a worker turns into an email to the user). `tinyRatios` compares commits with and
 * without an event for a change that costs almost nothing.
 *
 * An event gets its position later, in another transaction. The `deliveries` part measures that transaction.
 */
export async function measureCommits(
  context: Context,
  clientId: string,
  commits: number,
): Promise<CommitFigures> {
  const ids = await seedSubmitted(context, clientId, 10 * commits);
  const databasePid = await readDatabasePid(context.db);
  let used = 0;

  /**
   * Makes `commits` commits, two per participation. Each run continues with the participations after those of the
   * previous run.
   */
  const run = async (commitTwice: (id: string) => Promise<void>): Promise<Run> => {
    const cpuStart = process.cpuUsage();
    const databaseStart = readCpuMs(databasePid);
    const startedAt = performance.now();
    let count = 0;
    const commit = async () => {
      while (count < commits) {
        count += 2;
        await commitTwice(ids[used++ % ids.length] ?? '');
      }
    };
    await Promise.all(Array.from({ length: COMMITTERS }, commit));
    const perSecond = (count / (performance.now() - startedAt)) * 1000;
    const { user, system } = process.cpuUsage(cpuStart);
    const databaseMs = (readCpuMs(databasePid) ?? Number.NaN) - (databaseStart ?? Number.NaN);
    return { perSecond, cpuMs: ((user + system) / 1000 + databaseMs) / count };
  };
  const runOutcomes = (change: Change) =>
    run(async (id) => {
      await settle(context.db, id, change);
      await reopen(context.db, id, change);
    });
  const plain: Change = (tx, change) => updateStatus(tx, change, toTimestamp(context.clock.micros()));
  const waking: Change = async (tx, change) => {
    await plain(tx, change);
    await wakeSettlement(tx, 'base_mainnet');
  };
  const runTiny = (report: (tx: Db) => Promise<unknown>) =>
    run(async () => {
      await changeLittle(context.db, report);
      await changeLittle(context.db, report);
    });
  const event = { partnerId: ids[0] ?? '', userId: null, type: 'offer.published' };
  const appendOne = (tx: Db) =>
    appendEvents(context, tx, [{ ...event, data: { object: 'offer', id: 'offer' } }]);
  await createTinyTable(context.db);

  const runs: { plain: Run; reporting: Run; waking: Run; tiny: Run; tinyReporting: Run }[] = [];
  for (let round = 0; round <= ROUNDS; round++)
    runs.push({
      plain: await runOutcomes(plain),
      reporting: await runOutcomes((tx, change) => changeStatus(context, tx, change)),
      waking: await runOutcomes(waking),
      tiny: await runTiny(async () => undefined),
      tinyReporting: await runTiny(appendOne),
    });
  // The first round is a warm-up.
  const rounds = runs.slice(1);
  return {
    ratios: rounds.map((round) => round.reporting.perSecond / round.plain.perSecond),
    wakingRatios: rounds.map((round) => round.waking.perSecond / round.plain.perSecond),
    cpuRatios: rounds.map((round) => round.plain.cpuMs / round.reporting.cpuMs),
    tinyRatios: rounds.map((round) => round.tinyReporting.perSecond / round.tiny.perSecond),
    without: average(rounds.map((round) => round.plain)),
    with: average(rounds.map((round) => round.reporting)),
  };
}

type Change = (tx: Db, change: StatusChange) => Promise<unknown>;

/**
 * Seeds `count` participations and returns their ids. Use a high count, because updating the same rows over and over
 * gets slow.
 */
async function seedSubmitted(ctx: Context, clientId: string, count: number): Promise<string[]> {
  await seedParticipations(ctx, clientId, count);
  const { rows } = await sql<{
    id: string;
  }>`update participations set status = 'submitted' returning id`.execute(ctx.db);
  for (const text of ['vacuum analyze participations', 'checkpoint']) await sql.raw(text).execute(ctx.db);
  return rows.map(({ id }) => id);
}

async function createTinyTable(db: Db): Promise<void> {
  await sql`create table bench_changes (id bigint generated always as identity primary key, note text)`.execute(
    db,
  );
}

function changeLittle(db: Db, report: (tx: Db) => Promise<unknown>): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await sql`insert into bench_changes (note) values ('change')`.execute(tx);
    await sql`select from bench_changes where id = 1 for key share`.execute(tx);
    await sql`insert into bench_changes (note) values ('change')`.execute(tx);
    await report(tx);
  });
}

/** Makes the same change as the service's `settleCommit`, in a transaction of its own. */
function settle(db: Db, id: string, change: Change): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await markCommitted(tx, [id], true);
    await change(tx, { ids: [id], from: ['submitted'], to: 'completed' });
  });
}

/** Makes the same change as the service's `reopenCommit`, in a transaction of its own. */
function reopen(db: Db, id: string, change: Change): Promise<void> {
  return db.transaction().execute(async (tx) => {
    await markCommitted(tx, [id], null);
    await change(tx, { ids: [id], from: ['completed', 'failed'], to: 'submitted' });
  });
}

function average(runs: readonly Run[]): Run {
  const mean = (of: (run: Run) => number) => runs.reduce((sum, run) => sum + of(run), 0) / runs.length;
  return { perSecond: mean(({ perSecond }) => perSecond), cpuMs: mean(({ cpuMs }) => cpuMs) };
}

/** Returns the process id of the database server. Its child processes run the statements. */
async function readDatabasePid(db: Db): Promise<number> {
  const { rows } = await sql<{ text: string }>`select pg_read_file('postmaster.pid') as text`.execute(db);
  return Number.parseInt(rows[0]?.text ?? '', 10);
}
