import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { stringify } from 'yaml';
import { openChains } from '../chain/evm/client.ts';
import { type Config, ConfigError } from '../config.ts';
import { type Operator, runCommand } from '../operations/run-command.ts';
import { applyOffers, type OfferPlan, OfferRefusedError, planOffers } from './apply.ts';
import { toOffer } from './catalogue.ts';
import { checkContracts } from './contract-checks.ts';
import { definitionFromOffer, definitionToFile } from './definition.ts';
import { listOfferPartners, readAssets } from './definition-store.ts';
import { OfferFileError, parseOfferFile } from './file.ts';
import { OfferFile } from './file-schema.ts';
import { closeOffer, publishOffer } from './lifecycle.ts';
import { offerState } from './offer.ts';
import { describePlans } from './plan-text.ts';
import { listAllOffers, readOfferBySlug } from './store.ts';

export const OFFER_USAGE = `causeway offer diff FILE … [--set NAME=VALUE …]
causeway offer apply FILE … [--set NAME=VALUE …] [--yes] [--no-chain-checks] [--operator ADDRESS]
causeway offer list
causeway offer show SLUG
causeway offer publish SLUG …
causeway offer close SLUG …
causeway offer schema [--write FILE]`;

const options = {
  set: { type: 'string', multiple: true },
  yes: { type: 'boolean' },
  'no-chain-checks': { type: 'boolean' },
  operator: { type: 'string' },
  write: { type: 'string' },
} as const;

type Values = ReturnType<typeof readArguments>['values'];
type Action = (ctx: Operator, words: string[], values: Values, config: Config) => Promise<void>;

const ACTIONS: Record<string, { takes: readonly (keyof typeof options)[]; act: Action }> = {
  diff: { takes: ['set'], act: diff },
  apply: { takes: ['set', 'yes', 'no-chain-checks', 'operator'], act: apply },
  list: { takes: [], act: list },
  show: { takes: [], act: show },
  publish: { takes: [], act: (ctx, slugs) => each(slugs, (slug) => publishOffer(ctx, slug), 'published') },
  close: { takes: [], act: (ctx, slugs) => each(slugs, (slug) => closeOffer(ctx, slug), 'closed') },
};

export async function runOffer(config: Config, args: string[]): Promise<void> {
  const { values, positionals } = readArguments(args);
  const [name = '', ...words] = positionals;
  if (name === 'schema') return writeSchema(values.write);
  const action = ACTIONS[name];
  if (action === undefined)
    throw new ConfigError([`offer ${name}: there is no such command:\n${OFFER_USAGE}`]);
  const stray = Object.keys(values).find((option) => !action.takes.some((taken) => taken === option));
  if (stray !== undefined) throw new ConfigError([`--${stray}: is not for offer ${name}:\n${OFFER_USAGE}`]);
  if ((words.length === 0) !== (name === 'list') || (name === 'show' && words.length > 1))
    throw new ConfigError([`offer ${name}: the arguments are wrong:\n${OFFER_USAGE}`]);
  try {
    await runCommand(config, (ctx) => action.act(ctx, words, values, config));
  } catch (error) {
    if (!(error instanceof OfferFileError || error instanceof OfferRefusedError)) throw error;
    console.error(`${error.message}\nNothing was changed.`);
    process.exitCode = 2;
  }
}

function readArguments(args: string[]) {
  return parseArgs({ args, options, allowPositionals: true });
}

/** Like `diff`: 1 when there is a difference. */
async function diff(ctx: Operator, names: string[], values: Values): Promise<void> {
  const plans = await planOffers(ctx, await readFiles(names, values));
  console.log(describePlans(plans));
  if (plans.some(({ changes }) => changes.length > 0)) process.exitCode = 1;
}

async function apply(ctx: Operator, names: string[], values: Values, config: Config): Promise<void> {
  const files = await readFiles(names, values);
  const plans = await planOffers(ctx, files);
  console.log(describePlans(plans));
  const refusals = plans.flatMap((plan) => plan.refusals);
  if (refusals.length > 0) throw new OfferRefusedError(refusals);
  if (plans.every(({ changes }) => changes.length === 0)) return;
  if (values['no-chain-checks'] !== true) await checkOnChain(ctx, files, plans, config, values.operator);
  if (values.yes !== true && !(await confirm()))
    throw new OfferRefusedError(['Nobody said yes; --yes answers the question.']);
  await applyOffers(ctx, files, plans);
  console.error('Done; running nodes know within a second.');
}

async function checkOnChain(
  { db }: Operator,
  files: readonly OfferFile[],
  plans: readonly OfferPlan[],
  config: Config,
  operator: string | undefined,
): Promise<void> {
  if (operator !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(operator))
    throw new ConfigError(['--operator: must be 0x and 40 hexadecimal digits']);
  const chains = openChains({ urls: config.rpcUrls, freshness: config.rpcFreshness });
  try {
    const changed = files.filter((_, index) => plans[index]?.changes.length !== 0);
    const parts = {
      chains,
      digits: await digitsOf(db, files),
      operator: (operator as `0x${string}` | undefined) ?? null,
    };
    const problems = (await Promise.all(changed.map((file) => checkContracts(parts, file)))).flat();
    if (problems.length > 0)
      throw new OfferRefusedError([
        ...problems,
        'These are what the chains say; --no-chain-checks leaves them out.',
      ]);
  } finally {
    await chains.close();
  }
}

async function digitsOf(db: Operator['db'], files: readonly OfferFile[]): Promise<Map<string, number>> {
  const named = files.flatMap((file) => [file.asset, ...file.funding_assets]);
  const known = [...(await readAssets(db, named)).values()];
  const described = files.flatMap(({ assets }) =>
    Object.entries(assets).map(([id, asset]) => ({ id, ...asset })),
  );
  return new Map([...known, ...described].map(({ id, fractional_digits }) => [id, fractional_digits]));
}

async function readFiles(names: string[], { set = [] }: Values): Promise<OfferFile[]> {
  const variables = Object.fromEntries(
    set.map((pair) => {
      const [name = '', ...value] = pair.split('=');
      if (name === '' || value.length === 0)
        throw new ConfigError([`--set ${pair}: must be like NAME=VALUE`]);
      return [name, value.join('=')];
    }),
  );
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(name, 'utf8').catch((error: Error) => {
        throw new ConfigError([`${name}: cannot be read: ${error.message}`]);
      });
      return parseOfferFile(text, { name, variables });
    }),
  );
}

async function confirm(): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question('Change this? [y/N] ');
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}

async function list({ db, clock }: Operator): Promise<void> {
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

/** The file that would make this offer. */
async function show({ db }: Operator, [slug = '']: string[]): Promise<void> {
  const offer = await readOfferBySlug(db, slug);
  if (offer === null) throw new ConfigError([`${slug}: there is no such offer`]);
  process.stdout.write(
    stringify(definitionToFile(definitionFromOffer(offer, await listOfferPartners(db, offer.id))), {
      lineWidth: 110,
    }),
  );
}

async function each(slugs: string[], act: (slug: string) => Promise<boolean>, done: string): Promise<void> {
  for (const slug of slugs)
    console.error(`${slug}: ${(await act(slug)) ? `is ${done}` : `was ${done} already`}`);
}

async function writeSchema(file: string | undefined): Promise<void> {
  const schema = { $schema: 'https://json-schema.org/draft/2020-12/schema', ...asWritten(OfferFile) };
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  if (file === undefined) process.stdout.write(text);
  else await writeFile(file, text);
}

/** The schema as people write to it: what has a default may be left out. */
function asWritten<T>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(asWritten) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const {
    required,
    properties = {},
    ...rest
  } = schema as { required?: string[]; properties?: Record<string, object> };
  const members = Object.fromEntries(Object.entries(rest).map(([key, member]) => [key, asWritten(member)]));
  const needed = required?.filter((name) => !('default' in (properties[name] ?? {})));
  return {
    ...members,
    ...('properties' in schema && { properties: mapMembers(properties) }),
    ...(needed !== undefined && needed.length > 0 && { required: needed }),
  } as T;
}

function mapMembers(properties: Record<string, object>): Record<string, object> {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, asWritten(schema)]));
}
