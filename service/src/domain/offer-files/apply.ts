import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listAllowListSharers, readOfferBySlug } from '../offers/store.ts';
import {
  type Change,
  compareDefinitions,
  definitionFromFile,
  definitionFromOffer,
  findRefusals,
  type NamedPartner,
} from './definition.ts';
import * as store from './definition-store.ts';
import { readAssets, type StoredAsset, upsertAsset } from './definition-store.ts';
import { findAllowListConflicts, findUnidentifiedOptions } from './file-rules.ts';
import type { OfferFile } from './file-schema.ts';
import {
  findReferences,
  listAcknowledgedTexts,
  listOffersFundedBy,
  listOffersUsingAsset,
  listOptionsInProgress,
} from './references-store.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random' | 'config'>;

type PlanOptions = { sharedAssets?: SharedAssets };
/** `reviewed` contains the plans that the operator has seen. If the current plans differ, nothing is applied. */
type ApplyOptions = PlanOptions & { reviewed?: readonly OfferPlan[] };

export type OfferPlan = {
  slug: string;
  isNew: boolean;
  changes: Change[];
  /** Reasons why the plan cannot be applied; empty if it can. */
  refusals: string[];
};

export class OfferRefusedError extends Error {
  readonly refusals: readonly string[];

  constructor(refusals: readonly string[]) {
    super(refusals.join('\n'));
    this.name = 'OfferRefusedError';
    this.refusals = refusals;
  }
}

/** Makes the changes in a transaction and rolls it back, so that database constraints are checked too. */
export async function planOffers(
  ctx: Parts,
  files: readonly OfferFile[],
  options: PlanOptions = {},
): Promise<OfferPlan[]> {
  const tx = await ctx.db.startTransaction().execute();
  try {
    return await changeOffers(ctx, tx, files, options);
  } finally {
    await tx.rollback().execute();
  }
}

export async function applyOffers(
  ctx: Parts,
  files: readonly OfferFile[],
  { reviewed, ...options }: ApplyOptions = {},
): Promise<OfferPlan[]> {
  const run = ctx.db.transaction().execute(async (tx) => {
    const plans = await changeOffers(ctx, tx, files, options);
    const refusals = plans.flatMap((plan) => plan.refusals);
    if (refusals.length > 0) throw new OfferRefusedError(refusals);
    if (reviewed !== undefined && JSON.stringify(reviewed) !== JSON.stringify(plans))
      throw new OfferRefusedError([
        'the offers have changed since the diff was shown; run the command again and review the new diff',
      ]);
    return plans;
  });
  return run.catch((error: unknown) => {
    // Foreign key violation: after our check, another request started to use a part of the offer that the file removes.
    if ((error as { code?: string }).code === '23503')
      throw new OfferRefusedError([
        'the file removes a part of the offer that has just come into use; run the command again for details',
      ]);
    throw error;
  });
}

async function changeOffers(
  ctx: Parts,
  tx: Db,
  files: readonly OfferFile[],
  { sharedAssets = 'keep' }: PlanOptions,
): Promise<OfferPlan[]> {
  await store.lockOffers(tx);
  const plans: OfferPlan[] = [];
  for (const file of files) {
    if (plans.some(({ slug }) => slug === file.slug))
      throw new OfferRefusedError([`${file.slug}: more than one file has this slug`]);
    plans.push(await changeOffer(ctx, tx, file, files, sharedAssets));
  }
  // Only after all files have been applied, because several of them may change offers that share an allow-list.
  for (const plan of plans) {
    const offer = plan.changes.length === 0 ? null : await readOfferBySlug(tx, plan.slug);
    if (offer !== null)
      plan.refusals.push(...findAllowListConflicts(offer, await listAllowListSharers(tx, offer.id)));
  }
  return plans;
}

async function changeOffer(
  ctx: Parts,
  tx: Db,
  file: OfferFile,
  files: readonly OfferFile[],
  sharedAssets: SharedAssets,
): Promise<OfferPlan> {
  const { slug } = file;
  const refusals: string[] = [];
  const partners = await resolvePartners(tx, file, refusals);
  const assets = await changeAssets(tx, file, files, sharedAssets);
  refusals.push(...assets.refusals);
  const before = await readOfferBySlug(tx, slug);
  const definition = definitionFromFile(file, partners);
  const known =
    before === null ? null : definitionFromOffer(before, await store.listOfferPartners(tx, before.id));
  const changes = [...assets.changes, ...compareDefinitions(known, definition)];
  if (before !== null) {
    const optionIds = before.options.map(({ id }) => id);
    await store.lockOffer(tx, before.id);
    const references = await findReferences(tx, before.id, optionIds);
    const inProgress = await listOptionsInProgress(tx, optionIds);
    const acknowledged = await listAcknowledgedTexts(tx, before.id);
    refusals.push(...findRefusals(before, definition, references, inProgress, acknowledged));
  }
  if (ctx.config.profile === 'production' && changes.length > 0)
    refusals.push(...findUnidentifiedOptions(file));
  if (refusals.length === 0 && changes.length > assets.changes.length) {
    await store.writeOffer(ctx, tx, definition, before, assets.known);
    refusals.push(...(await findSymbolConflicts(ctx, tx, file)));
  }
  return { slug, isNew: before === null, changes, refusals };
}

async function resolvePartners(
  tx: Db,
  { slug, partners }: OfferFile,
  refusals: string[],
): Promise<NamedPartner[]> {
  const resolved = new Map<string, NamedPartner>();
  for (const reference of partners) {
    const [partner, ...others] = await store.findPartners(tx, reference);
    if (partner === undefined) refusals.push(`${slug}: partners: partner ${reference} not found`);
    else if (others.length > 0)
      refusals.push(`${slug}: partners: more than one partner is named ${reference}; use a client id`);
    else resolved.set(partner.id, partner);
  }
  return [...resolved.values()];
}

export async function findSymbolConflicts(
  { clock }: Pick<Parts, 'clock'>,
  tx: Db,
  { slug, symbol }: Pick<OfferFile, 'slug' | 'symbol'>,
): Promise<string[]> {
  if (symbol === null) return [];
  const slugs = await store.findSymbolConflicts(tx, slug, symbol, clock.now());
  return slugs.map((other) => `${slug}: symbol: ${other} already trades ${symbol} for the same partner`);
}

/** Whether applying a file may change the description of an asset that offers in other files also use. */
type SharedAssets = 'keep' | 'change';

type ChangedAssets = { changes: Change[]; known: ReadonlyMap<string, StoredAsset>; refusals: string[] };

/**
 * Writes the file's new and changed assets, except for refused changes. Returns all changes; `known` includes them
 * all.
 */
async function changeAssets(
  tx: Db,
  file: OfferFile,
  files: readonly OfferFile[],
  shared: SharedAssets,
): Promise<ChangedAssets> {
  const referenced = [...new Set([file.asset, ...file.funding_assets, ...Object.keys(file.assets)])];
  const known = await readAssets(tx, referenced);
  const changes: Change[] = [];
  const refusals: string[] = [];
  for (const [id, description] of Object.entries(file.assets)) {
    const wanted = { id, ...description };
    const found = compareAssets(known.get(id), wanted);
    if (found.length === 0) continue;
    const refused = known.has(id) ? await refuseChange(tx, file, files, wanted, found, shared) : [];
    if (refused.length === 0) await upsertAsset(tx, wanted);
    refusals.push(...refused);
    changes.push(...found);
    known.set(id, wanted);
  }
  refusals.push(...findUnusable(file, referenced, known));
  return { changes, known, refusals };
}

function findUnusable(
  { slug, funding_assets }: OfferFile,
  referenced: readonly string[],
  known: ReadonlyMap<string, StoredAsset>,
): string[] {
  return referenced.flatMap((id) => {
    const asset = known.get(id);
    if (asset === undefined) return [`${slug}: assets: asset ${id} not found; define it under assets`];
    if (asset.transfers === 'exact' || !funding_assets.includes(id)) return [];
    return [
      `${slug}: funding_assets: ${id} cannot fund an offer: its transfers are "${asset.transfers}", not "exact"`,
    ];
  });
}

/** All offers share one description of an asset, so a change made in one file affects the other offers too. */
async function refuseChange(
  tx: Db,
  file: OfferFile,
  files: readonly OfferFile[],
  wanted: StoredAsset,
  changes: readonly Change[],
  shared: SharedAssets,
): Promise<string[]> {
  const { id } = wanted;
  const users = await listOffersUsingAsset(tx, id);
  const funded = await listOffersFundedBy(tx, id);
  const agrees = ({ assets }: OfferFile) =>
    assets[id] !== undefined && compareAssets({ id, ...assets[id] }, wanted).length === 0;
  const agreeing = files.filter(agrees).map(({ slug }) => slug);
  const others = users.filter((slug) => slug !== file.slug && !agreeing.includes(slug));
  return changes.flatMap(({ path }) => {
    const at = `${file.slug}: ${path}`;
    if (path.endsWith('.fractional_digits'))
      return users.length === 0 ? [] : [`${at}: cannot be changed: used by ${users.join(', ')}`];
    if (path.endsWith('.transfers') && wanted.transfers !== 'exact' && funded.length > 0)
      return [`${at}: cannot be changed: the asset funds ${funded.join(', ')}`];
    if (others.length === 0 || shared === 'change') return [];
    return [`${at}: would also change for ${others.join(', ')}; pass --change-assets to allow this`];
  });
}

function compareAssets(before: StoredAsset | undefined, after: StoredAsset): Change[] {
  return (['code', 'name', 'fractional_digits', 'transfers'] as const)
    .map((field) => ({
      path: `assets.${after.id}.${field}`,
      from: before === undefined ? null : String(before[field]),
      to: String(after[field]),
    }))
    .filter(({ from, to }) => from !== to);
}

const MAX_VALUE_LENGTH = 100;

export function describePlans(plans: readonly OfferPlan[]): string {
  return plans.map(describePlan).join('\n');
}

function describePlan({ slug, isNew, changes, refusals }: OfferPlan): string {
  const lines = changes.map(({ path, from, to }) => {
    if (from === null) return `  + ${path}: ${shorten(to ?? '')}`;
    if (to === null) return `  - ${path}: ${shorten(from)}`;
    return `  ~ ${path}: ${shorten(from)} → ${shorten(to)}`;
  });
  const title = isNew ? 'new offer' : changes.length === 0 ? 'no changes' : 'changes';
  return [`${slug}: ${title}`, ...lines, ...refusals.map((refusal) => `  ! ${refusal}`)].join('\n');
}

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > MAX_VALUE_LENGTH ? `${line.slice(0, MAX_VALUE_LENGTH - 1)}…` : line;
}
