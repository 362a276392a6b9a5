import { setTimeout as sleep } from 'node:timers/promises';
import { applyOffers } from '../../src/domain/offer-files/apply.ts';
import { parseOfferFile } from '../../src/domain/offer-files/file.ts';
import type { OfferFile } from '../../src/domain/offer-files/file-schema.ts';
import { publishOffer } from '../../src/domain/offer-files/lifecycle.ts';
import { toOffer } from '../../src/domain/offers/offer.ts';
import { readOfferBySlug } from '../../src/domain/offers/store.ts';
import type { Context } from '../../src/platform/context/context.ts';
import type { Offer } from '../../src/platform/context/ports.ts';
import { makeClient, partnerOf } from './tokens.ts';

export const ADDRESS = {
  fund: `0x${'f1'.repeat(20)}`,
  swap: `0x${'51'.repeat(20)}`,
  usdc: `0x${'c0'.repeat(20)}`,
  asset: `0x${'a5'.repeat(20)}`,
} as const;

/** Returns a token sale with one option, with `change` applied. */
export function saleFile(change: Partial<OfferFile> = {}): OfferFile {
  const file = {
    slug: 'harbour-sale',
    type: 'platform::token_sale',
    name: 'Harbour',
    tagline: 'A part of the harbour',
    logo_url: 'https://assets.test/logo.svg',
    banner_url: 'https://assets.test/banner.svg',
    asset: 'harbour',
    funding_assets: ['usd-coin'],
    partners: ['partner-one'],
    options: [{ slug: 'standard', price_usd: '1.50' }],
    contracts: [
      {
        chain: 'ethereum_sepolia',
        address: ADDRESS.fund,
        funding_tokens: [{ asset: 'usd-coin', address: ADDRESS.usdc }],
      },
    ],
    assets: {
      harbour: { code: 'HBR', name: 'Harbour', fractional_digits: 18 },
      'usd-coin': { code: 'USDC', name: 'USD Coin', fractional_digits: 6 },
    },
    ...change,
  };
  return parseOfferFile(JSON.stringify(file), { name: 'test.yaml' });
}

/** Returns a tokenized swap, with `change` applied. */
export function tokenizedFile(change: Partial<OfferFile> = {}): OfferFile {
  return saleFile({
    slug: 'harbour-stock',
    type: 'tokenized::swap',
    tagline: null,
    banner_url: null,
    symbol: 'HBRon',
    fee_bps: 50,
    contracts: [
      {
        ...{ chain: 'ethereum_sepolia', address: ADDRESS.swap, asset_address: ADDRESS.asset },
        ...{ allow_list: false, domain_name: null, vault: null },
        funding_tokens: [{ asset: 'usd-coin', address: ADDRESS.usdc }],
      },
    ],
    ...change,
  });
}

/**
 * Applies and publishes a file and returns the offer. Creates the partners that the file lists by client id.
 */
export async function makeOffer(ctx: Context, file: OfferFile = saleFile()): Promise<Offer> {
  for (const clientId of file.partners) await makeClient(ctx, { clientId });
  await applyOffers(ctx, [file]);
  await publishOffer(ctx, file.slug);
  const stored = await readOfferBySlug(ctx.db, file.slug);
  if (stored === null) throw new Error('offer not stored');
  // Waits until the app's offer cache has been notified of the offer.
  for (const clientId of file.partners)
    while (!(await ctx.offers.of(partnerOf(clientId))).byKey.has(stored.id)) await sleep(2);
  return toOffer(stored);
}
