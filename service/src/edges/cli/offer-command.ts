import { userInfo } from 'node:os';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { OfferRefusedError } from '../../domain/offer-files/apply.ts';
import { definitionFromOffer, definitionToFile } from '../../domain/offer-files/definition.ts';
import { listOfferPartners } from '../../domain/offer-files/definition-store.ts';
import { OfferFileError } from '../../domain/offer-files/file.ts';
import { OfferFile } from '../../domain/offer-files/file-schema.ts';
import { closeOffer, publishOffer, reopenOffer } from '../../domain/offer-files/lifecycle.ts';
import { countOfferUse } from '../../domain/offer-files/references-store.ts';
import { offerState, toOffer } from '../../domain/offers/offer.ts';
import { listAllOffers, readOfferBySlug } from '../../domain/offers/store.ts';
import { planRefundRequest, requestRefunds } from '../../domain/participations/refunds.ts';
import { countRefundable, findOfferId, listRefundable } from '../../domain/participations/report-store.ts';
import { showProgress } from '../../domain/participations/report-text.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import type { StoredOffer } from '../../kernel/model/stored-offer.ts';
import { plural } from '../../kernel/plural.ts';
import { type ApplyContext, applyFiles, diffFiles } from './apply-command.ts';
import {
  type CommandHelp,
  confirm,
  confirmByName,
  requireReason,
  unknownCommand,
  writeOutput,
} from './command.ts';
import { type CommandContext, runCommand } from './run-command.ts';

export const help: CommandHelp = {
  usage: [
    'offer diff FILE … [--set NAME=VALUE …]',
    'offer apply FILE … [--set NAME=VALUE …] [--yes] [--change-assets] [--no-chain-checks] [--operator [ROLE=]ADDRESS …]',
    'offer apply FILE … [--set NAME=VALUE …] --plan',
    'offer list',
    'offer show SLUG',
    'offer publish SLUG …',
    'offer close SLUG --reason TEXT [--yes]',
    'offer reopen SLUG --reason TEXT',
    'offer refund SLUG [--yes] [--dry-run]',
    'offer schema [--write FILE]',
  ],
  description: 'Manages offers, which are described by YAML files.',
  commands: {
    diff: 'Prints what apply would change. Exits with 1 if there are changes.',
    apply:
      'Validates the files, checks their contracts on chain, asks for confirmation and changes all offers in one transaction. New offers are hidden until they are published.',
    list: 'Prints all offers.',
    show: 'Prints an offer as a file.',
    publish: 'Makes offers visible to their partners.',
    close:
      'Ends an offer now, before its planned end. Prints what this ends, and asks for the slug of the offer. The reason is stored in the audit log.',
    reopen:
      "Undoes close: the offer's own start and end apply again. Participations that were refused in the meantime stay refused.",
    refund:
      'Requests the refund of every completed participation of an offer. Can be repeated after an interruption.',
    schema: 'Prints the JSON schema of offer files, for editors.',
  },
  options: {
    '--set NAME=VALUE': 'The value of the variable NAME in the files. Repeatable.',
    '--yes': 'Apply, close or refund without asking for confirmation.',
    '--reason TEXT': 'Why the offer is closed or reopened.',
    '--dry-run':
      'Change nothing: print which participations would be refunded or frozen, the sum of the refunds, and whether another person has to confirm.',
    '--plan':
      'Apply nothing: print the changes, and how many users would gain or lose eligibility through each changed rule.',
    '--change-assets': 'Allow changes to assets that offers in other files also use.',
    '--no-chain-checks': 'Do not check the contracts on chain.',
    '--operator [ROLE=]ADDRESS':
      'The address that must have the role (commit, refund, quote or supplier) on chain. Without ROLE, the address must have every role except supplier. Repeatable. Default: the addresses of the configured keys, or else the operator address that the nodes use.',
    '--write FILE': 'Write the schema to FILE instead of standard output.',
  },
  examples: {
    'offer apply offers/harbour-sale.yaml': 'Create or change an offer',
    'offer publish harbour-sale': 'Make it visible to its partners',
    'offer diff offers/*.yaml --set ENV=staging': 'Compare all files with the database',
  },
};

const options = {
  set: { type: 'string', multiple: true },
  yes: { type: 'boolean' },
  reason: { type: 'string' },
  plan: { type: 'boolean' },
  'change-assets': { type: 'boolean' },
  'no-chain-checks': { type: 'boolean' },
  operator: { type: 'string', multiple: true },
  write: { type: 'string' },
  'dry-run': { type: 'boolean' },
} as const;

type Values = ReturnType<typeof readArguments>['values'];
type Action = (ctx: ApplyContext, words: string[], values: Values) => Promise<void>;

const ACTIONS: Record<string, { allowed: readonly (keyof typeof options)[]; run: Action }> = {
  diff: { allowed: ['set'], run: diffFiles },
  apply: { allowed: ['set', 'yes', 'plan', 'change-assets', 'no-chain-checks', 'operator'], run: applyFiles },
  list: { allowed: [], run: list },
  show: { allowed: [], run: show },
  publish: {
    allowed: [],
    run: publish,
  },
  refund: { allowed: ['yes', 'dry-run'], run: refund },
  close: { allowed: ['reason', 'yes'], run: close },
  reopen: { allowed: ['reason'], run: reopen },
};

export async function run(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const [name = '', ...words] = positionals;
  if (name === 'schema') return writeSchema(values.write);
  const action = ACTIONS[name];
  if (action === undefined) throw unknownCommand('offer', name, [...Object.keys(ACTIONS), 'schema']);
  const unexpected = Object.keys(values).find((option) => !action.allowed.some((each) => each === option));
  if (unexpected !== undefined) throw new UsageError(`offer ${name} does not take --${unexpected}`);
  if (name === 'list' && words.length > 0) throw new UsageError('offer list takes no arguments');
  if (name !== 'list' && words.length === 0)
    throw new UsageError(
      name === 'diff' || name === 'apply'
        ? `offer ${name} requires at least one file`
        : `offer ${name} requires a slug; see "causeway offer list"`,
    );
  if (['show', 'refund', 'close', 'reopen'].includes(name) && words.length > 1)
    throw new UsageError(`offer ${name} takes a single slug`);
  try {
    await runCommand(config, (ctx) => action.run({ ...ctx, config }, words, values));
  } catch (error) {
    if (!(error instanceof OfferFileError || error instanceof OfferRefusedError)) throw error;
    console.error(`${error.message}\nNothing was changed.`);
    process.exitCode = 2;
  }
}

function readArguments(args: string[]) {
  return parseArgs({ args, options, allowPositionals: true });
}

/** Can be repeated after an interruption: it skips refunds that are already requested. */
async function refund(ctx: ApplyContext, [slug = '']: string[], values: Values): Promise<void> {
  const offerId = await findOfferId(ctx.db, slug);
  if (offerId === null)
    throw new UsageError(`offer ${slug} does not exist; "causeway offer list" shows all offers`);
  const { count, blocked, held } = await countRefundable(ctx.db, offerId);
  console.log(`${plural(count, 'participation')} of ${slug} can be refunded`);
  if (blocked > 0)
    console.log(
      `${plural(blocked, 'more participation')} cannot be refunded until the freezes and holds are released`,
    );
  const operator = { name: userInfo().username, limitUsd: ctx.config.refundDailyLimitUsd };
  if (count + held.length === 0) return;
  if (values['dry-run'] === true) {
    const { ids, amountUsd, refusal } = await planRefundRequest(
      ctx,
      operator,
      await listRefundable(ctx.db, offerId),
    );
    const outcome = refusal === null ? 'would become remit_submitted' : 'would wait for confirmation';
    for (const id of ids) console.log(`${id} ${outcome}`);
    if (refusal === null) for (const id of held) console.log(`${id} would be frozen`);
    console.log(
      refusal === null
        ? `${plural(ids.length, 'refund')} totalling ${amountUsd} USD would be requested. Nothing was changed.`
        : `The sum ${refusal}; another person would have to confirm. Nothing was changed.`,
    );
    return;
  }
  if (held.length > 0) console.log(`${plural(held.length, 'participation')} of users on hold will be frozen`);
  if (values.yes !== true && !(await confirm()))
    throw new OfferRefusedError(['Not confirmed. Use --yes to refund without asking.']);
  const progress = showProgress(count, process.stderr);
  const done = await requestRefunds(ctx, operator, await listRefundable(ctx.db, offerId), progress.at);
  progress.end();
  console.log(`${plural(done, 'refund')} requested`);
}

async function list({ db, clock }: ApplyContext): Promise<void> {
  const offers = await listAllOffers(db);
  const rows = await Promise.all(
    offers.map(async (offer) => ({
      slug: offer.slug,
      type: offer.type,
      state: offerState(toOffer(offer), clock.now()),
      published_at: offer.published_at,
      partners: (await listOfferPartners(db, offer.id)).map(({ name }) => name),
    })),
  );
  console.log(JSON.stringify(rows, null, 2));
}

async function show({ db }: ApplyContext, [slug = '']: string[]): Promise<void> {
  const offer = await readOfferBySlug(db, slug);
  if (offer === null)
    throw new UsageError(`offer ${slug} does not exist; "causeway offer list" shows all offers`);
  process.stdout.write(
    stringify(definitionToFile(definitionFromOffer(offer, await listOfferPartners(db, offer.id))), {
      lineWidth: 110,
    }),
  );
}

async function publish(ctx: ApplyContext, slugs: string[]): Promise<void> {
  for (const slug of slugs)
    console.error(`${slug}: ${(await publishOffer(ctx, slug)) ? 'published' : 'already published'}`);
}

async function writeSchema(file: string | undefined): Promise<void> {
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...toAuthorSchema(OfferFile) };
  await writeOutput(file, `${JSON.stringify(schema, null, 2)}\n`);
}

/** Members with a default become optional, because authors of offer files may omit them. */
function toAuthorSchema<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(toAuthorSchema) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const {
    required,
    properties = {},
    ...rest
  } = schema as { required?: string[]; properties?: Record<string, object> };
  const members = Object.fromEntries(
    Object.entries(rest).map(([key, member]) => [key, toAuthorSchema(member)]),
  );
  const needed = required?.filter((name) => !('default' in (properties[name] ?? {})));
  return {
    ...members,
    ...('properties' in schema && { properties: mapMembers(properties) }),
    ...(needed !== undefined && needed.length > 0 && { required: needed }),
  } as T;
}

function mapMembers(properties: Record<string, object>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, toAuthorSchema(schema)]),
  );
}

async function close(ctx: CommandContext, [slug = '']: string[], values: Values): Promise<void> {
  const reason = requireReason('offer close', values.reason);
  const offer = await readOfferBySlug(ctx.db, slug);
  if (offer === null)
    throw new UsageError(`offer ${slug} does not exist; "causeway offer list" shows all offers`);
  if (offer.closed_at === null) await confirmByName(await previewClose(ctx, offer), slug, values.yes);
  console.error(`${slug}: ${(await closeOffer(ctx, slug, reason)) ? 'closed' : 'already closed'}`);
}

/** Undoes `close`. Asks for no confirmation, because `close` undoes this. */
async function reopen(ctx: CommandContext, [slug = '']: string[], values: Values): Promise<void> {
  const offer = await reopenOffer(ctx, slug, requireReason('offer reopen', values.reason));
  console.error(`${slug}: reopened, ${describeWindow(offer, readState(ctx, offer))}`);
}

function describeWindow({ starts_at, ends_at }: StoredOffer, state: string): string {
  if (state === 'ended') return `but it ended at ${ends_at}; apply a later ends_at to open it`;
  const start = state === 'upcoming' ? ` from ${starts_at}` : '';
  return `now ${state}${start}${ends_at === null ? '' : ` until ${ends_at}`}`;
}

function readState({ clock }: CommandContext, offer: StoredOffer): string {
  return offer.published_at === null ? 'unpublished' : offerState(toOffer(offer), clock.now());
}

async function previewClose(ctx: CommandContext, offer: StoredOffer): Promise<string[]> {
  const { db } = ctx;
  const partners = await listOfferPartners(db, offer.id);
  const { prepared, pending, submitted, orders } = await countOfferUse(db, offer.id);
  return [
    `This ends the offer ${offer.slug} (${offer.name}, ${offer.type}) now:`,
    `  state: ${readState(ctx, offer)}`,
    `  planned end: ${offer.planned_end ?? 'none'}`,
    `  partners: ${partners.map(({ name }) => name).join(', ')}`,
    `  in progress: ${prepared} prepared, ${pending} pending and ${submitted} submitted participations, ${plural(orders, 'order')}`,
    'Users can no longer invest, and partners get offer.ended. What is in progress is still settled.',
    '"causeway offer reopen" undoes this.',
  ];
}
