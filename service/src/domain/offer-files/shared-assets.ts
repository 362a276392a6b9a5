import type { Db } from '../../platform/db/pool.ts';
import type { Change } from './definition.ts';
import { readAssets, type StoredAsset, upsertAsset } from './definition-store.ts';
import type { OfferFile } from './file-schema.ts';
import { listOffersFundedBy, listOffersUsingAsset } from './references-store.ts';

/** Whether applying a file may change the description of an asset that offers in other files also use. */
export type SharedAssets = 'keep' | 'change';

type ChangedAssets = { changes: Change[]; known: ReadonlyMap<string, StoredAsset>; refusals: string[] };

/**
 * Writes the file's new and changed assets, except for refused changes. Returns all changes, even refused ones, and the
 * refusals. In the result, `known` describes the assets that the file refers to, as if no change had been refused.
 */
export async function changeAssets(
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

/**
 * Returns the reasons why an asset must not change; empty if it may change. All offers share one description of an
 * asset, so a change made in one file affects the other offers too.
 */
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
