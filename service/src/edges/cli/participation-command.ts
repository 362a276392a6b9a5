import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { type Participation, STATUSES } from '../../domain/holdings/participation.ts';
import { cancelParticipation, retryParticipation } from '../../domain/participations/cancel.ts';
import {
  confirmRefunds,
  planConfirmation,
  type RefundOperator,
  remitParticipations,
} from '../../domain/participations/refunds.ts';
import {
  countReports,
  findOfferId,
  listReports,
  type ReportFilter,
  type ReportRow,
  readReport,
} from '../../domain/participations/report-store.ts';
import { CSV_HEADER, showProgress, toCsv, toLine } from '../../domain/participations/report-text.ts';
import { chainFacts } from '../../kernel/chains.ts';
import type { Config } from '../../kernel/config/config.ts';
import { ApiError, UsageError } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { plural } from '../../kernel/plural.ts';
import type { Db } from '../../platform/db/pool.ts';
import { rehearse } from '../../platform/db/rehearse.ts';
import { type CommandHelp, unknownCommand } from './command.ts';
import { type CommandContext, runCommand } from './run-command.ts';

export const help: CommandHelp = {
  usage: [
    'participation list [--partner ID] [--offer SLUG] [--status STATUS] [--limit N]',
    'participation show ID …',
    'participation export --csv [--partner ID] [--offer SLUG] [--status STATUS] [--write FILE]',
    'participation remit ID … [--dry-run]',
    'participation confirm REQUEST [--dry-run]',
    'participation cancel ID … [--dry-run]',
    'participation retry ID … [--dry-run]',
  ],
  description: 'Reports on participations, and requests refunds.',
  commands: {
    list: 'Prints the newest participations, one per line.',
    show: 'Prints participations as JSON, with their transactions and history.',
    export: 'Prints all participations.',
    remit: 'Requests refunds of completed participations. The settlement worker then sends them.',
    confirm:
      'Approves refunds that exceeded the limit of the person who asked for them (REFUND_DAILY_LIMIT_USD), and requests them. A different OS user must run this command.',
    cancel:
      'Marks prepared and pending participations as failed if nothing has been signed for them. On Solana, this takes a minute or two. The settlement worker waits that long, because the database may have been restored from a backup, and a commit that the backup does not contain could still land.',
    retry: 'Checks waiting participations immediately, and requests failed refunds again.',
  },
  options: {
    '--partner ID': 'Only participations with this partner.',
    '--offer SLUG': 'Only participations in this offer.',
    '--status STATUS': `Only participations with this status: ${STATUSES.join(', ')}.`,
    '--limit N': 'The number of participations to list, 1 to 10000. Default: 50.',
    '--csv': 'Export as CSV, the only supported format.',
    '--dry-run':
      'Change nothing: apply the same rules and print the status that each participation would have, or why it would be refused.',
    '--write FILE': 'Write the export to FILE instead of standard output.',
  },
  examples: {
    'participation list --offer harbour-sale --status failed': 'Find failed participations',
    'participation export --csv --write participations.csv': 'Export everything',
    'participation remit 01890000-0000-7000-8000-000000000001': 'Refund a participation',
  },
};

const options = {
  partner: { type: 'string' },
  offer: { type: 'string' },
  status: { type: 'string' },
  limit: { type: 'string' },
  csv: { type: 'boolean' },
  write: { type: 'string' },
  'dry-run': { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArguments>['values'];
type Action = (ctx: CommandContext, ids: string[], values: Values) => Promise<void>;

type Change = (ctx: CommandContext, operator: RefundOperator, ids: string[]) => Promise<Participation[]>;

/** The commands that change participations. */
const CHANGES: Record<string, Change> = {
  remit: remitParticipations,
  cancel: (ctx, _operator, ids) => inOrder(ids, (id) => cancelParticipation(ctx, id)),
  retry: (ctx, operator, ids) => inOrder(ids, (id) => retryParticipation(ctx, operator, id)),
};
const ACTIONS: Record<string, Action> = { list, show, export: exportAll, confirm };

const PAGE_SIZE = 1_000;

export async function run(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const [name = '', ...ids] = positionals;
  const change = CHANGES[name];
  const operator = { name: userInfo().username, limitUsd: config.refundDailyLimitUsd };
  const action = change === undefined ? ACTIONS[name] : changeEach(name, change, operator);
  if (action === undefined)
    throw unknownCommand('participation', name, [...Object.keys(ACTIONS), ...Object.keys(CHANGES)]);
  const takesIds = name === 'show' || name === 'confirm' || name in CHANGES;
  if (takesIds && ids.length === 0)
    throw new UsageError(
      `participation ${name} requires ${name === 'confirm' ? 'the id of a request' : 'at least one participation id'}`,
    );
  if (name === 'confirm' && ids.length > 1)
    throw new UsageError('participation confirm takes one request id');
  if (!takesIds && ids.length > 0)
    throw new UsageError(`participation ${name} takes no arguments besides options`);
  if (values['dry-run'] !== undefined && !(name in CHANGES || name === 'confirm'))
    throw new UsageError(`participation ${name} does not take --dry-run`);
  if (values.status !== undefined && !STATUSES.some((status) => status === values.status))
    throw new UsageError(`--status must be one of ${STATUSES.join(', ')}`);
  if (values.partner !== undefined && !isId(values.partner))
    throw new UsageError('--partner must be a partner id; see "causeway partner list"');
  await runCommand(config, (ctx) => action(ctx, ids, values));
}

function readArguments(args: string[]) {
  return parseArgs({ args, options, allowPositionals: true });
}

async function readFilter({ db }: CommandContext, { partner, offer, status }: Values): Promise<ReportFilter> {
  const offerId = offer === undefined ? null : await findOfferId(db, offer);
  if (offer !== undefined && offerId === null)
    throw new UsageError(`--offer ${offer} does not exist; "causeway offer list" shows all offers`);
  return { partnerId: partner ?? null, offerId, status: status ?? null };
}

/** Newest first. */
async function list(ctx: CommandContext, _ids: string[], values: Values): Promise<void> {
  const limit = Number(values.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw new UsageError('--limit must be an integer from 1 to 10000');
  const rows = await listReports(ctx.db, await readFilter(ctx, values), null, limit);
  for (const row of rows) console.log(toLine(row));
  if (rows.length === limit)
    console.error(`Only the newest ${limit} are shown; use --limit for more, or export for all.`);
}

async function show({ db }: CommandContext, ids: string[]): Promise<void> {
  for (const report of await inOrder(ids, (id) => readExisting(db, id)))
    console.log(JSON.stringify(report, null, 2));
}

async function readExisting(db: Db, id: string) {
  const report = isId(id) ? await readReport(db, id) : null;
  if (report === null) throw new UsageError(`participation ${id} does not exist`);
  return report;
}

/** Writes page by page, so that memory use does not depend on the number of rows. */
async function exportAll(ctx: CommandContext, _ids: string[], values: Values): Promise<void> {
  if (values.csv !== true)
    throw new UsageError('participation export requires --csv, the only supported format');
  const filter = await readFilter(ctx, values);
  // Counting is slow on large tables, and only the progress bar needs the total.
  const total = process.stderr.isTTY ? await countReports(ctx.db, filter) : 0;
  const file = values.write === undefined ? undefined : await open(values.write, 'w', 0o600);
  const write = async (text: string) => {
    if (file !== undefined) await file.writeFile(text);
    else if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  };
  const progress = showProgress(total, process.stderr);
  await write(CSV_HEADER);
  let done = 0;
  let after: ReportRow | null = null;
  for (;;) {
    const rows: ReportRow[] = await listReports(ctx.db, filter, after, PAGE_SIZE);
    await write(rows.map(toCsv).join(''));
    done += rows.length;
    progress.at(done);
    after = rows.at(-1) ?? null;
    if (rows.length < PAGE_SIZE) break;
  }
  progress.end();
  await file?.close();
}

async function confirm(ctx: CommandContext, [id = '']: string[], values: Values): Promise<void> {
  const explainMissing = (error: unknown): never => {
    if (!(error instanceof ApiError && error.code === 'not_found')) throw error;
    throw new UsageError(`there is no request ${id} from the last 24 hours`);
  };
  if (values['dry-run'] === true) {
    const plan = await planConfirmation(ctx, userInfo().username, id).catch(explainMissing);
    const { request, ids, amountUsd } = plan;
    const { operator, participationIds, insertedAt } = request;
    const refundable = new Set(ids);
    console.log(
      `${operator} requested ${plural(participationIds.length, 'refund')} totalling ${request.amountUsd} USD at ${insertedAt}`,
    );
    for (const each of participationIds)
      console.log(
        `${each} would ${refundable.has(each) ? 'become remit_submitted' : 'not change: it cannot be refunded now'}`,
      );
    console.log(
      `${plural(ids.length, 'refund')} totalling ${amountUsd} USD would be requested. Nothing was changed.`,
    );
    return;
  }
  const done = await confirmRefunds(ctx, userInfo().username, id).catch(explainMissing);
  console.log(`${plural(done, 'refund')} requested`);
}

function changeEach(name: string, change: Change, operator: RefundOperator): Action {
  const isEnding = ({ status }: Participation) => name === 'cancel' && status !== 'failed';
  const isStopped = ({ status }: Participation) =>
    status === 'remit_failed' || (name === 'remit' && status === 'completed');
  // Refunds are requested together. Other changes are made and printed one by one, so that after an error, the operator
  // sees what was changed before.
  const each = async (ctx: CommandContext, ids: string[], print: (changed: Participation) => void) => {
    for (const batch of name === 'remit' ? [ids] : ids.map((id) => [id]))
      for (const changed of await change(ctx, operator, batch)) print(changed);
  };
  return async (ctx, ids, values) => {
    // Checks all ids first, so that a mistyped id leaves the other participations unchanged.
    await inOrder(ids, (id) => readExisting(ctx.db, id));
    if (values['dry-run'] === true)
      return rehearse(ctx.db, (db) =>
        each({ ...ctx, db }, ids, (changed) =>
          console.log(
            `${changed.id} would become ${isEnding(changed) ? 'failed, as soon as no commit for it can land any more' : changed.status}`,
          ),
        ),
      );
    await each(ctx, ids, (changed) => {
      const { id, status, chain } = changed;
      const isLate = status === 'remit_submitted' && chainFacts(chain).refundDepth > 1;
      const note = isEnding(changed)
        ? ', will fail once no commit can land any more'
        : isLate
          ? ', will be sent once its commit is final'
          : isStopped(changed)
            ? ', not refunded because of a hold or a sanction; see "causeway participation show"'
            : '';
      console.log(`${id} ${status}${note}`);
    });
  };
}

async function inOrder<T>(ids: readonly string[], work: (id: string) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (const id of ids) results.push(await work(id));
  return results;
}
