import { readFile } from 'node:fs/promises';
import { measureImpact } from '../../domain/eligibility/rule-impact.ts';
import {
  applyOffers,
  describePlans,
  type OfferPlan,
  OfferRefusedError,
  planOffers,
} from '../../domain/offer-files/apply.ts';
import { checkContracts } from '../../domain/offer-files/contract-checks.ts';
import { readAssets } from '../../domain/offer-files/definition-store.ts';
import { parseOfferFile } from '../../domain/offer-files/file.ts';
import type { OfferFile } from '../../domain/offer-files/file-schema.ts';
import { findKeyAddresses } from '../../domain/offer-files/role-addresses.ts';
import { describeImpact, findRuleChanges } from '../../domain/offer-files/rule-changes.ts';
import { readOfferBySlug } from '../../domain/offers/store.ts';
import { showProgress } from '../../domain/participations/report-text.ts';
import { countUsers } from '../../domain/requirements/store.ts';
import { type ChainName, chainFacts } from '../../kernel/chains.ts';
import type { Config } from '../../kernel/config/config.ts';
import { UsageError } from '../../kernel/errors.ts';
import { confirm } from './command.ts';
import { type CommandContext, withChains } from './run-command.ts';

export type ApplyContext = CommandContext & { config: Config };

export type ApplyFlags = {
  set?: string[];
  yes?: boolean;
  operator?: string[];
  'no-chain-checks'?: boolean;
  'change-assets'?: boolean;
  plan?: boolean;
};

/** Exits with status 1 if there are changes, like diff(1). */
export async function diffFiles(ctx: ApplyContext, names: string[], flags: ApplyFlags): Promise<void> {
  const plans = await planOffers(ctx, await readFiles(names, flags));
  console.log(describePlans(plans));
  if (plans.some(({ changes }) => changes.length > 0)) process.exitCode = 1;
}

export async function applyFiles(ctx: ApplyContext, names: string[], flags: ApplyFlags): Promise<void> {
  const files = await readFiles(names, flags);
  const sharedAssets = flags['change-assets'] === true ? 'change' : 'keep';
  const plans = await planOffers(ctx, files, { sharedAssets });
  console.log(describePlans(plans));
  const refusals = plans.flatMap((plan) => plan.refusals);
  if (refusals.length > 0) throw new OfferRefusedError(refusals);
  if (flags.plan === true) return printImpact(ctx, files);
  if (plans.every(({ changes }) => changes.length === 0)) return;
  if (flags['no-chain-checks'] !== true) await checkOnChain(ctx, files, plans, flags.operator);
  if (flags.yes !== true && !(await confirm()))
    throw new OfferRefusedError(['Not confirmed. Use --yes to apply without asking.']);
  await applyOffers(ctx, files, { reviewed: plans, sharedAssets });
  console.error('Done. Running nodes apply the change within a second.');
}

async function printImpact(ctx: ApplyContext, files: readonly OfferFile[]): Promise<void> {
  const found = await Promise.all(
    files.map(async (file) => findRuleChanges(await readOfferBySlug(ctx.db, file.slug), file)),
  );
  const changes = found.flat();
  const users = await countUsers(ctx.db);
  const progress = showProgress(users, process.stderr);
  const impacts = changes.length === 0 ? [] : await measureImpact(ctx, changes, progress.at);
  progress.end();
  console.log(describeImpact(users, changes, impacts));
}

async function checkOnChain(
  ctx: ApplyContext,
  files: readonly OfferFile[],
  plans: readonly OfferPlan[],
  operators: readonly string[] = [],
): Promise<void> {
  const changed = files.filter((_, index) => plans[index]?.changes.length !== 0);
  const addresses = await findKeyAddresses(ctx, operators);
  const digits = await digitsOf(ctx, files);
  const warn = (message: string) => console.error(`Warning: ${message}`);
  const problems = await withChains(ctx.config, async (chains) => {
    const parts = { chains, digits, ...addresses, warn };
    return (await Promise.all(changed.map((file) => checkContracts(parts, file)))).flat();
  });
  const settled = changed
    .filter(({ type }) => type !== 'fund::swap')
    .flatMap(({ contracts }) => contracts.map(({ chain }) => chain));
  const isEvm = (chain: ChainName) => chainFacts(chain).protocol === 'ethereum';
  if (settled.some((chain) => isEvm(chain) && addresses.addressOf('commit', chain) === null))
    problems.push(
      'operator: cannot check its roles; set OPERATOR_KEY, or pass --operator ADDRESS (nodes log the address when they start)',
    );
  if (settled.some((chain) => !isEvm(chain) && addresses.solanaOperatorsOf(chain).length === 0))
    problems.push(
      'operator: cannot check whether the fund lets it sign; set SOLANA_OPERATOR_KEY or OPERATOR_KEYS_FILE, or first start a node that has the key',
    );
  if (problems.length > 0)
    throw new OfferRefusedError([
      ...problems,
      'These problems were found on chain. Use --no-chain-checks to skip the checks.',
    ]);
}

async function digitsOf({ db }: ApplyContext, files: readonly OfferFile[]): Promise<Map<string, number>> {
  const named = files.flatMap((file) => [file.asset, ...file.funding_assets]);
  const known = [...(await readAssets(db, named)).values()];
  const described = files.flatMap(({ assets }) =>
    Object.entries(assets).map(([id, asset]) => ({ id, ...asset })),
  );
  return new Map([...known, ...described].map(({ id, fractional_digits }) => [id, fractional_digits]));
}

async function readFiles(names: string[], { set = [] }: ApplyFlags): Promise<OfferFile[]> {
  const variables = Object.fromEntries(
    set.map((pair) => {
      const [name = '', ...value] = pair.split('=');
      if (name === '' || value.length === 0)
        throw new UsageError(`--set ${pair} must have the form NAME=VALUE`);
      return [name, value.join('=')];
    }),
  );
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(name, 'utf8').catch((error: Error) => {
        throw new UsageError(`${name} cannot be read: ${error.message}`);
      });
      return parseOfferFile(text, { name, variables });
    }),
  );
}
