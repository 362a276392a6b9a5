import type { OfferDefinition } from './definition.ts';
import type { OfferReferences } from './references-store.ts';
import type { StoredOffer } from './store.ts';

/** Bindings bear a change of contract; money that is under way does not. */
const BINDINGS = 'option_addresses';

/** Why a change cannot be made: what depends on the offer would no longer mean what it meant. */
export function findRefusals(before: StoredOffer, after: OfferDefinition, uses: OfferReferences): string[] {
  const refusals: string[] = [];
  const refuse = (path: string, tables: Iterable<string>, what: string) =>
    void refusals.push(`${before.slug}: ${path}: ${what}: it is in use (${[...tables].sort().join(', ')})`);

  for (const { id, slug, requirements } of before.options) {
    const tables = uses.options.get(id) ?? new Set();
    const wanted = after.options.find((option) => option.slug === slug);
    if (wanted === undefined && tables.size > 0) refuse(`options.${slug}`, tables, 'cannot be removed');
    const accumulates = (list: readonly { type: string }[]) =>
      list.some(({ type }) => type === 'whitelisted_wallet');
    if (
      wanted !== undefined &&
      tables.has(BINDINGS) &&
      accumulates(requirements) &&
      !accumulates(wanted.requirements)
    )
      refuse(`options.${slug}.requirements.whitelisted_wallet`, [BINDINGS], 'cannot be removed');
  }
  if (before.type !== after.type && uses.offer.size > 0) refuse('type', uses.offer, 'cannot be changed');
  const money = new Set([...uses.offer].filter((table) => table !== BINDINGS));
  if (money.size > 0) for (const path of movedMoney(before, after)) refuse(path, money, 'cannot be changed');
  return refusals;
}

/** What says where money is and what it buys. Adding to it is no change of what there is. */
function movedMoney(before: StoredOffer, after: OfferDefinition): string[] {
  const paths: string[] = [];
  if (before.asset.id !== after.asset) paths.push('asset');
  if (before.symbol !== after.symbol) paths.push('symbol');
  for (const { id } of before.funding_assets)
    if (!after.funding_assets.includes(id)) paths.push(`funding_assets.${id}`);
  for (const contract of before.contracts) {
    const at = `contracts.${contract.chain}`;
    const wanted = after.contracts.find(({ chain }) => chain === contract.chain);
    if (wanted === undefined) {
      paths.push(at);
      continue;
    }
    if (wanted.address !== contract.address) paths.push(`${at}.address`);
    if (wanted.asset_address !== contract.asset_address) paths.push(`${at}.asset_address`);
    for (const { asset_id, address } of contract.funding_tokens) {
      const token = wanted.funding_tokens.find(({ asset }) => asset === asset_id);
      if (token?.address !== address) paths.push(`${at}.funding_tokens.${asset_id}`);
    }
  }
  return paths;
}
