import type { Context } from '../context.ts';
import type { Db } from '../db/pool.ts';
import {
  type Change,
  compareDefinitions,
  definitionFromFile,
  definitionFromOffer,
  type NamedPartner,
} from './definition.ts';
import * as documents from './definition-store.ts';
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
  /** Why it cannot be done; nothing at all is changed then. */
  refusals: string[];
};

/** Nothing was changed. */
export class OfferRefusedError extends Error {
  readonly refusals: readonly string[];

  constructor(refusals: readonly string[]) {
    super(refusals.join('\n'));
    this.name = 'OfferRefusedError';
    this.refusals = refusals;
  }
}

/** What applying the files would do. It is done and undone, so the database has had its say too. */
export async function planOffers(ctx: Parts, files: readonly OfferFile[]): Promise<OfferPlan[]> {
  const tx = await ctx.db.startTransaction().execute();
  try {
    return await changeOffers(ctx, tx, files);
  } finally {
    await tx.rollback().execute();
  }
}

/** Makes the offers as the files say, all or none. With `shown`, only if that is still what would be done. */
export async function applyOffers(
  ctx: Parts,
  files: readonly OfferFile[],
  shown?: readonly OfferPlan[],
): Promise<OfferPlan[]> {
  const run = ctx.db.transaction().execute(async (tx) => {
    const plans = await changeOffers(ctx, tx, files);
    const refusals = plans.flatMap((plan) => plan.refusals);
    if (refusals.length > 0) throw new OfferRefusedError(refusals);
    if (shown !== undefined && JSON.stringify(shown) !== JSON.stringify(plans))
      throw new OfferRefusedError([
        'the offers were changed by someone else meanwhile: look at the difference again',
      ]);
    return plans;
  });
  return run.catch((error: unknown) => {
    // Someone began to use what was to be removed, after we looked.
    if ((error as { code?: string }).code === '23503')
      throw new OfferRefusedError(['what was to be removed has just come into use']);
    throw error;
  });
}

async function changeOffers(ctx: Parts, tx: Db, files: readonly OfferFile[]): Promise<OfferPlan[]> {
  await documents.lockOffers(tx);
  const plans: OfferPlan[] = [];
  for (const file of files) {
    if (plans.some(({ slug }) => slug === file.slug))
      throw new OfferRefusedError([`${file.slug}: two files have this slug`]);
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
  const document = definitionFromFile(file, partners);
  const known =
    before === null ? null : definitionFromOffer(before, await documents.listOfferPartners(tx, before.id));
  const changes = [...assets.changes, ...compareDefinitions(known, document)];
  if (before !== null) {
    const optionIds = before.options.map(({ id }) => id);
    refusals.push(...findRefusals(before, document, await findReferences(tx, before.id, optionIds)));
  }
  if (refusals.length === 0 && changes.length > assets.changes.length) {
    await documents.writeOffer(ctx, tx, document, before, assets.known);
    refusals.push(...(await symbolClashes(ctx, tx, file)));
  }
  return { slug, isNew: before === null, changes, refusals };
}

async function resolvePartners(
  tx: Db,
  { slug, partners }: OfferFile,
  refusals: string[],
): Promise<NamedPartner[]> {
  const resolved = new Map<string, NamedPartner>();
  for (const word of partners) {
    const [partner, ...others] = await documents.findPartners(tx, word);
    if (partner === undefined) refusals.push(`${slug}: partners: there is no partner ${word}`);
    else if (others.length > 0)
      refusals.push(`${slug}: partners: several partners are called ${word}; use a client id`);
    else resolved.set(partner.id, partner);
  }
  return [...resolved.values()];
}

/** Assets that the file describes, and those it takes as known. */
async function changeAssets(tx: Db, file: OfferFile, refusals: string[]) {
  const named = [...new Set([file.asset, ...file.funding_assets, ...Object.keys(file.assets)])];
  const known = await documents.readAssets(tx, named);
  const changes: Change[] = [];
  for (const [id, { code, name, fractional_digits }] of Object.entries(file.assets)) {
    const wanted: Asset = { id, code, name, fractional_digits };
    const found = compareAssets(known.get(id), wanted);
    if (found.length === 0) continue;
    const users = known.has(id) ? await listOffersUsingAsset(tx, id) : [];
    if (users.length > 0 && found.some(({ path }) => path.endsWith('fractional_digits')))
      refusals.push(
        `${file.slug}: assets.${id}.fractional_digits: cannot be changed: offers use it (${users.join(', ')})`,
      );
    else await documents.upsertAsset(tx, wanted);
    changes.push(...found);
    known.set(id, wanted);
  }
  for (const id of named)
    if (!known.has(id))
      refusals.push(`${file.slug}: assets: there is no asset ${id}; describe it under assets`);
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

async function symbolClashes({ clock }: Parts, tx: Db, { slug, symbol }: OfferFile): Promise<string[]> {
  if (symbol === null) return [];
  const slugs = await documents.findSymbolClashes(tx, slug, symbol, clock.now());
  return slugs.map(
    (other) => `${slug}: symbol: ${symbol} is traded by ${other} for the same partner already`,
  );
}
