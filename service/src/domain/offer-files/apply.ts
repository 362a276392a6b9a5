import type { Context } from '../../platform/context/context.ts';
import type { Db } from '../../platform/db/pool.ts';
import { listAllowListSharers, readOfferBySlug } from '../offers/store.ts';
import { findAllowListConflicts, findUnidentifiedOptions } from './admission-rules.ts';
import {
  type Change,
  compareDefinitions,
  definitionFromFile,
  definitionFromOffer,
  type NamedPartner,
} from './definition.ts';
import * as store from './definition-store.ts';
import type { OfferFile } from './file-schema.ts';
import { findReferences, listAcknowledgedTexts, listOptionsInProgress } from './references-store.ts';
import { findRefusals } from './refusals.ts';
import { changeAssets, type SharedAssets } from './shared-assets.ts';

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

/** Thrown if at least one file is refused. In that case, no offer is changed. */
export class OfferRefusedError extends Error {
  readonly refusals: readonly string[];

  constructor(refusals: readonly string[]) {
    super(refusals.join('\n'));
    this.name = 'OfferRefusedError';
    this.refusals = refusals;
  }
}

/**
 * Returns the changes that applying the files would make. Makes the changes in a transaction and rolls it back, so that
 * database constraints are checked too.
 */
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

/** Applies all files or none. */
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
  // Looks for conflicts only after all files have been applied, because several files may change offers that share an
  // allow-list.
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

/** Returns a message for each other offer that has not ended and trades the same symbol for the same partner. */
export async function findSymbolConflicts(
  { clock }: Pick<Parts, 'clock'>,
  tx: Db,
  { slug, symbol }: Pick<OfferFile, 'slug' | 'symbol'>,
): Promise<string[]> {
  if (symbol === null) return [];
  const slugs = await store.findSymbolConflicts(tx, slug, symbol, clock.now());
  return slugs.map((other) => `${slug}: symbol: ${other} already trades ${symbol} for the same partner`);
}
