import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import {
  type Change,
  compareDefinitions,
  definitionFromFile,
  definitionFromOffer,
  type NamedPartner,
} from './definition.ts';
import * as store from './definition-store.ts';
import type { OfferFile } from './file-schema.ts';
import { findReferences, listOffersUsingAsset } from './references-store.ts';
import { findRefusals } from './refusals.ts';
import type { Asset } from './schema.ts';
import { readOfferBySlug } from './store.ts';

type Parts = Pick<Context, 'db' | 'clock' | 'random'>;

export type OfferPlan = {
  slug: string;
  isNew: boolean;
  changes: Change[];
  /** Reasons why the plan cannot be applied; empty if it can. */
  refusals: string[];
};

/** Thrown if any file is refused; no offer has changed. */
export class OfferRefusedError extends Error {
  readonly refusals: readonly string[];

  constructor(refusals: readonly string[]) {
    super(refusals.join('\n'));
    this.name = 'OfferRefusedError';
    this.refusals = refusals;
  }
}

/** Returns the changes that applying the files would make. Runs and rolls back, so database constraints apply too. */
export async function planOffers(ctx: Parts, files: readonly OfferFile[]): Promise<OfferPlan[]> {
  const tx = await ctx.db.startTransaction().execute();
  try {
    return await changeOffers(ctx, tx, files);
  } finally {
    await tx.rollback().execute();
  }
}

/** Applies all files or none. With `reviewed`, throws if the changes differ from that plan. */
export async function applyOffers(
  ctx: Parts,
  files: readonly OfferFile[],
  reviewed?: readonly OfferPlan[],
): Promise<OfferPlan[]> {
  const run = ctx.db.transaction().execute(async (tx) => {
    const plans = await changeOffers(ctx, tx, files);
    const refusals = plans.flatMap((plan) => plan.refusals);
    if (refusals.length > 0) throw new OfferRefusedError(refusals);
    if (reviewed !== undefined && JSON.stringify(reviewed) !== JSON.stringify(plans))
      throw new OfferRefusedError(['the offers have changed since the diff was shown; review it again']);
    return plans;
  });
  return run.catch((error: unknown) => {
    // Foreign key violation: a row started to reference a removed part after the check.
    if ((error as { code?: string }).code === '23503')
      throw new OfferRefusedError(['a part that the file removes has just come into use']);
    throw error;
  });
}

async function changeOffers(ctx: Parts, tx: Db, files: readonly OfferFile[]): Promise<OfferPlan[]> {
  await store.lockOffers(tx);
  const plans: OfferPlan[] = [];
  for (const file of files) {
    if (plans.some(({ slug }) => slug === file.slug))
      throw new OfferRefusedError([`${file.slug}: more than one file has this slug`]);
    plans.push(await changeOffer(ctx, tx, file));
  }
  return plans;
}

async function changeOffer(ctx: Parts, tx: Db, file: OfferFile): Promise<OfferPlan> {
  const { slug } = file;
  const refusals: string[] = [];
  const partners = await resolvePartners(tx, file, refusals);
  const assets = await changeAssets(tx, file, refusals);
  const before = await readOfferBySlug(tx, slug);
  const definition = definitionFromFile(file, partners);
  const known =
    before === null ? null : definitionFromOffer(before, await store.listOfferPartners(tx, before.id));
  const changes = [...assets.changes, ...compareDefinitions(known, definition)];
  if (before !== null) {
    const optionIds = before.options.map(({ id }) => id);
    refusals.push(...findRefusals(before, definition, await findReferences(tx, before.id, optionIds)));
  }
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

/** Writes the assets that the file defines and returns every asset it refers to. */
async function changeAssets(tx: Db, file: OfferFile, refusals: string[]) {
  const referenced = [...new Set([file.asset, ...file.funding_assets, ...Object.keys(file.assets)])];
  const known = await store.readAssets(tx, referenced);
  const changes: Change[] = [];
  for (const [id, { code, name, fractional_digits }] of Object.entries(file.assets)) {
    const wanted: Asset = { id, code, name, fractional_digits };
    const found = compareAssets(known.get(id), wanted);
    if (found.length === 0) continue;
    const users = known.has(id) ? await listOffersUsingAsset(tx, id) : [];
    if (users.length > 0 && found.some(({ path }) => path.endsWith('fractional_digits')))
      refusals.push(
        `${file.slug}: assets.${id}.fractional_digits: cannot be changed: used by ${users.join(', ')}`,
      );
    else await store.upsertAsset(tx, wanted);
    changes.push(...found);
    known.set(id, wanted);
  }
  for (const id of referenced)
    if (!known.has(id)) refusals.push(`${file.slug}: assets: asset ${id} not found; define it under assets`);
  return { changes, known };
}

function compareAssets(before: Asset | undefined, after: Asset): Change[] {
  return (['code', 'name', 'fractional_digits'] as const)
    .map((field) => ({
      path: `assets.${after.id}.${field}`,
      from: before === undefined ? null : String(before[field]),
      to: String(after[field]),
    }))
    .filter(({ from, to }) => from !== to);
}

async function findSymbolConflicts({ clock }: Parts, tx: Db, { slug, symbol }: OfferFile): Promise<string[]> {
  if (symbol === null) return [];
  const slugs = await store.findSymbolConflicts(tx, slug, symbol, clock.now());
  return slugs.map((other) => `${slug}: symbol: ${other} already trades ${symbol} for the same partner`);
}
