import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { parseArgs } from 'node:util';
import { chainFacts } from '../chain/chains.ts';
import { type Config, ConfigError } from '../config.ts';
import { isId } from '../http/ids.ts';
import { type Operator, runCommand } from '../operations/run-command.ts';
import { requestRemit } from '../settlement/refund.ts';
import {
  countReports,
  findOfferId,
  listReports,
  type ReportFilter,
  type ReportRow,
  readReport,
} from './report-store.ts';
import { CSV_HEADER, showProgress, toCsv, toLine } from './report-text.ts';
import { STATUSES } from './schema.ts';

export const PARTICIPATION_USAGE = `causeway participation list [--partner ID] [--offer SLUG] [--status STATUS] [--limit N]
causeway participation show ID
causeway participation export --csv [--partner ID] [--offer SLUG] [--status STATUS] [--write FILE]
causeway participation remit ID …`;

const options = {
  partner: { type: 'string' },
  offer: { type: 'string' },
  status: { type: 'string' },
  limit: { type: 'string' },
  csv: { type: 'boolean' },
  write: { type: 'string' },
} as const;

type Values = ReturnType<typeof readArguments>['values'];
type Action = (ctx: Operator, words: string[], values: Values) => Promise<void>;

const ACTIONS: Record<string, Action> = { list, show, export: exportAll, remit };
const PAGE = 1_000;

export async function runParticipation(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const [name = '', ...words] = positionals;
  const action = ACTIONS[name];
  const takesIds = name === 'show' || name === 'remit';
  if (action === undefined || takesIds === (words.length === 0))
    throw new ConfigError([`participation ${name}: the arguments are wrong:\n${PARTICIPATION_USAGE}`]);
  if (values.status !== undefined && !STATUSES.some((status) => status === values.status))
    throw new ConfigError([`--status: must be one of ${STATUSES.join(', ')}`]);
  if (values.partner !== undefined && !isId(values.partner))
    throw new ConfigError(['--partner: must be the id of a partner; see causeway partner list']);
  await runCommand(config, (ctx) => action(ctx, words, values));
}

function readArguments(args: string[]) {
  return parseArgs({ args, options, allowPositionals: true });
}

async function readFilter({ db }: Operator, { partner, offer, status }: Values): Promise<ReportFilter> {
  const offerId = offer === undefined ? null : await findOfferId(db, offer);
  if (offer !== undefined && offerId === null)
    throw new ConfigError([`--offer: there is no offer ${offer}; see causeway offer list`]);
  return { partnerId: partner ?? null, offerId, status: status ?? null };
}

/** Newest first. */
async function list(ctx: Operator, _words: string[], values: Values): Promise<void> {
  const limit = Number(values.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 10_000)
    throw new ConfigError(['--limit: must be a whole number from 1 to 10000']);
  const rows = await listReports(ctx.db, await readFilter(ctx, values), null, limit);
  for (const row of rows) console.log(toLine(row));
  if (rows.length === limit) console.error(`The newest ${limit}; --limit shows more, export shows all.`);
}

async function show({ db }: Operator, words: string[]): Promise<void> {
  for (const id of words) {
    const report = isId(id) ? await readReport(db, id) : null;
    if (report === null) throw new ConfigError([`${id}: there is no such participation`]);
    console.log(JSON.stringify(report, null, 2));
  }
}

/** Row by row in the order of the list, so that memory does not grow with what there is. */
async function exportAll(ctx: Operator, _words: string[], values: Values): Promise<void> {
  if (values.csv !== true) throw new ConfigError(['--csv: is the one form that can be exported; say it']);
  const filter = await readFilter(ctx, values);
  // Counting takes a while where there is much, and only who sees the bar needs it.
  const total = process.stderr.isTTY ? await countReports(ctx.db, filter) : 0;
  const out = values.write === undefined ? process.stdout : createWriteStream(values.write, { mode: 0o600 });
  const write = async (text: string) => void (out.write(text) || (await once(out, 'drain')));
  const progress = showProgress(total, process.stderr);
  await write(CSV_HEADER);
  let done = 0;
  let after: ReportRow | null = null;
  for (;;) {
    const rows: ReportRow[] = await listReports(ctx.db, filter, after, PAGE);
    await write(rows.map(toCsv).join(''));
    done += rows.length;
    progress.at(done);
    after = rows.at(-1) ?? null;
    if (rows.length < PAGE) break;
  }
  progress.end();
  if (out !== process.stdout) await new Promise<void>((resolve) => void out.end(resolve));
}

async function remit(ctx: Operator, words: string[]): Promise<void> {
  for (const id of words) {
    const { status, chain } = await requestRemit(ctx, id);
    const { refundDepth } = chainFacts(chain);
    const when = refundDepth > 1 ? `, sent when its commit lies ${refundDepth} blocks deep` : '';
    console.log(`${id} ${status}${status === 'remit_submitted' ? when : ''}`);
  }
}
